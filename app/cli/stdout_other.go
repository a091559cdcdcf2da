//go:build !linux

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// failIfClosed does nothing: a closed stdout looks like /dev/null here.
func failIfClosed(_ *os.File) error { return nil }

// dupOver makes the descriptor to a copy of from.
func dupOver(from, to int) error { return unix.Dup2(from, to) }
