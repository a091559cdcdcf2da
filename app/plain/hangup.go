package plain

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"
)

// HungUp reports whether a terminal was closed. If so, the end of its input does not mean that the user has typed
// Ctrl-D.
func HungUp(tty *os.File) bool {
	_, err := term.GetState(int(tty.Fd()))
	return err != nil
}

// closed reports whether one of the files is a closed terminal.
func closed(files ...*os.File) bool {
	return slices.ContainsFunc(files, func(f *os.File) bool {
		_, err := term.GetState(int(f.Fd()))
		return errors.Is(err, syscall.EIO)
	})
}

// hangupTime limits the wait for SIGHUP after the terminal was closed.
const hangupTime = time.Second
