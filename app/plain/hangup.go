package plain

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"
)

// HungUp reports whether a terminal was closed. The end of its input then was not typed by the user.
func HungUp(tty *os.File) bool {
	_, err := term.GetState(int(tty.Fd()))
	return err != nil
}

// closed reports whether one of the files is a terminal that was closed; other files don't count.
func closed(files ...*os.File) bool {
	return slices.ContainsFunc(files, func(f *os.File) bool {
		_, err := term.GetState(int(f.Fd()))
		return errors.Is(err, syscall.EIO)
	})
}

// hangupTime limits the delay between the end of the terminal and SIGHUP.
const hangupTime = time.Second
