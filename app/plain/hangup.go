package plain

import (
	"os"
	"time"

	"golang.org/x/term"
)

// HungUp reports whether a terminal was closed: nobody typed the end of input that it gives.
func HungUp(tty *os.File) bool {
	_, err := term.GetState(int(tty.Fd()))
	return err != nil
}

// hangupTime is how long after the end of its terminal the program learns of it at the latest.
const hangupTime = time.Second
