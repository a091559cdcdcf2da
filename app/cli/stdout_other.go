//go:build !linux

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// failIfClosed does nothing: a closed stdout looks like /dev/null here.
func failIfClosed(_ *os.File) error { return nil }

// dupOver replaces the second descriptor with a copy of the first.
func dupOver(from, to int) error { return unix.Dup2(from, to) }
