// Package confine starts a command that can read and answer, but change and send nothing:
// the read-only sandbox of commands that run without approval.
//
// On Linux the kernel keeps it, by restrictions that a process can put on itself and never take off:
// Landlock (which files) and a seccomp filter (which system calls). They are put on one
// thread, which starts the command and ends; the process around it stays as it is. On macOS it is
// package seatbelt.
//
//	box, err := confine.New(confine.Config{Reach: confine.Reach{Read: []string{"/home/ann/shop"}}, Env: os.Environ(), Temp: tmp})
//	err = box.Start(cmd) // it was not started if this fails; else it waits for its input
//	err = cmd.Wait()
//	err = box.Sweep(cmd.Process.Pid) // ends what it left behind
//
// The data is in tables: calls_linux.go (system calls), path_rules_linux.go and paths.go (folders), environ.go
// (variables). elastic/go-seccomp-bpf is not used, because it lacks the newest calls, compares 64 bits of arguments of
// which the kernel takes 32, and fills the tables of five machines at each start.
package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"buddy/texts"
)

// Reach lists what a person lets the commands of a session read, apart from the system.
type Reach struct {
	// Read are the folders that may be read, with all below them: real, absolute paths.
	Read []string `json:"read,omitempty"`
	// Hidden are files and folders that may not be read although they lie in Read: real, absolute
	// paths.
	Hidden []string `json:"hidden,omitempty"`
	// Given are files and folders that may be read although they lie in Hidden, or outside of Read.
	Given []string `json:"given,omitempty"`
	// Withheld are the names of variables that no command gets.
	Withheld []string `json:"withheld,omitempty"`
}

// Check returns an error that is [ErrImpossible] when dir, which commands must not read
// completely, lies in a folder that they may read: Landlock can't exclude it.
func (r Reach) Check(dir string) error {
	for _, root := range r.Read {
		if texts.Below(dir, root) {
			return fmt.Errorf("%w: the workspace %q contains the files of running commands, %q", ErrImpossible, root, dir)
		}
	}
	return nil
}

// Config describes the commands of a [Box].
type Config struct {
	Reach
	// Env is the environment of the first command: its PATH and other variables name the tools.
	// It must not contain changes made by commands since.
	Env []string
	// Temp is an existing folder that commands may write to. It is emptied after each.
	Temp string
	// Work are more folders that are worked in than those of Read.
	Work []string
	// ABI limits the version of Landlock's interface that is used, for tests; 0 is the kernel's.
	ABI int
}

// ErrImpossible means that this system can't restrict commands. Nothing ran.
var ErrImpossible = errors.New("no read-only sandbox here")

// Limits of each process of a confined command. Total memory is not limited: such a process is
// the first that the kernel kills when memory is short.
const (
	fileMax  = 64 << 20 // bytes of a file
	cpuMax   = 30 * 60  // seconds of processor time
	spaceMax = 64 << 30 // bytes of address space, most of which programs only reserve
	moreMax  = 1000     // processes and threads of the user beyond those that run at the start; none for root
)

// empty removes the contents of a folder.
func empty(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	return err
}
