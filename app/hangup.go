package app

import (
	"os"
	"time"

	"golang.org/x/term"
)

// hungUp reports whether a terminal was closed: nobody typed the end of input that it gives.
func hungUp(tty *os.File) bool {
	_, err := term.GetState(int(tty.Fd()))
	return err != nil
}

// hangupTime is how long after the end of its terminal the program learns of it at the latest.
const hangupTime = time.Second
