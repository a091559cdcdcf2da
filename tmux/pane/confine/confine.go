// Package confine starts a command that can read and answer, but change and send nothing:
// the read-only sandbox of commands that nobody was asked about.
//
// The kernel keeps it, by restrictions that a process can put on itself and never take off:
// Landlock (which files) and a seccomp filter (which system calls). They are put on one
// thread, which starts the command and ends; the process around it stays as it is.
//
//	box, err := confine.New(confine.Config{Reach: confine.Reach{Read: []string{"/home/ann/shop"}}, Env: os.Environ(), Temp: tmp})
//	err = box.Start(cmd) // it was not started if this fails; else it waits for its input
//	err = cmd.Wait()
//	err = box.Sweep(cmd.Process.Pid) // ends what it left behind
//
// What is data is in tables: calls.txt (system calls), paths.go (folders), environ.go
// (variables).
package confine

import (
	"errors"
	"fmt"

	"buddy/texts"
)

// Reach is what a person has given to the commands of a session, apart from the system.
type Reach struct {
	// Read are the folders that may be read, with all below them: real, absolute paths.
	Read []string `json:"read,omitempty"`
	// Withheld are the names of variables that no command gets.
	Withheld []string `json:"withheld,omitempty"`
}

// Check returns an error that is [ErrImpossible] when a folder which commands must not see
// whole is in one that they may read: Landlock can't take it out.
func (r Reach) Check(dir string) error {
	for _, root := range r.Read {
		if texts.Below(dir, root) {
			return fmt.Errorf("%w: the folder to work in, %q, holds the files of running commands, %q", ErrImpossible, root, dir)
		}
	}
	return nil
}

// Config says what a [Box] is for.
type Config struct {
	Reach
	// Env is the environment in which the first command starts: its PATH and other variables
	// say where tools are. What commands have changed since must not be in it.
	Env []string
	// Temp is an existing folder that commands may write to. What is in it is removed after
	// each.
	Temp string
	// ABI limits what is asked of Landlock to a version of its interface, for tests; 0 takes
	// what the kernel has.
	ABI int
}

// ErrImpossible means that this system can't restrict commands so. Nothing ran.
var ErrImpossible = errors.New("no read-only sandbox here")

// The limits of each process of a confined command. Memory is not limited in all: such a
// process is the first that the kernel ends when there is too little.
const (
	fileMax  = 64 << 20 // bytes of a file
	cpuMax   = 30 * 60  // seconds of processor time
	spaceMax = 64 << 30 // bytes of address space, most of which programs only reserve
)
