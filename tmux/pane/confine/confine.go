// Package confine implements the read-only sandbox, in which commands run without approval: they can read and print,
// but can't change or send anything.
//
//	box, err := confine.New(confine.Config{Reach: confine.Reach{Read: []string{"/home/ann/shop"}}, Env: os.Environ(), Temp: tmp})
//	err = box.Start(cmd) // after an error cmd was not started; else it waits for its input
//	err = cmd.Wait()
//	err = box.Sweep(cmd.Process.Pid) // ends the processes that cmd left behind
//
// On Linux, it uses Landlock for files and a seccomp filter for system calls. Both are restrictions that a thread can
// put on itself but never remove. So a thread is restricted, starts the command and ends; the rest of the process
// stays unrestricted. On macOS, the package uses package seatbelt.
//
// The rules are tables: calls_linux.go (system calls), path_rules_linux.go and paths.go (folders), environ.go
// (variables). The package does not use elastic/go-seccomp-bpf, which lacks the newest calls, compares 64 bits of
// arguments where the kernel uses 32, and builds tables for five architectures at each start.
package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"buddy/texts"
)

// Reach holds the files and variables that the commands of a session can read, in addition to the system's files.
type Reach struct {
	// Read holds the folders that commands may read, with everything below them: real, absolute paths.
	Read []string `json:"read,omitempty"`
	// Hidden holds the files and folders in Read that commands may not read: real, absolute paths.
	Hidden []string `json:"hidden,omitempty"`
	// Given holds the files and folders that commands may read although they are in Hidden, or outside of Read.
	Given []string `json:"given,omitempty"`
	// Withheld holds the names of variables that no command gets.
	Withheld []string `json:"withheld,omitempty"`
}

// Check returns an error that is [ErrImpossible] if dir is in a folder that commands may read. Commands must not be
// able to read all of dir, but Landlock can't exclude it from a folder.
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
	// Env is the environment of the first command: its PATH and other variables name the tools. It must not contain
	// later changes by commands.
	Env []string
	// Temp is an existing folder that commands may write to. It is emptied after each command.
	Temp string
	// Run holds files outside of Read that commands may run: real, absolute paths.
	Run []string
	// Work holds workspace folders in addition to Read.
	Work []string
	// ABI limits the version of Landlock's interface, for tests; 0 is the kernel's.
	ABI int
}

// ErrImpossible means that this system can't restrict commands. Nothing ran.
var ErrImpossible = errors.New("no read-only sandbox here")

// Limits of each process of a confined command. Total memory is not limited, because the kernel kills confined
// processes first when memory is low.
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
