package plain

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"
)

// HungUp reports whether a terminal was closed: nobody typed the end of input that it gives.
func HungUp(tty *os.File) bool {
	_, err := term.GetState(int(tty.Fd()))
	return err != nil
}

// closed reports whether one of the files is a terminal that was closed. Other files are none.
func closed(files ...*os.File) bool {
	return slices.ContainsFunc(files, func(f *os.File) bool {
		_, err := term.GetState(int(f.Fd()))
		return errors.Is(err, syscall.EIO)
	})
}

// hangupTime limits how long after the end of its terminal the program learns of it.
const hangupTime = time.Second
