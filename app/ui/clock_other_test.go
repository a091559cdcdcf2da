//go:build !linux

package ui

import "golang.org/x/sys/unix"

// threadClock returns the CPU clock of the process, which counts more than this thread.
func threadClock() int32 { return unix.CLOCK_PROCESS_CPUTIME_ID }
