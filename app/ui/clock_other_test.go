//go:build !linux

package ui

import "golang.org/x/sys/unix"

// threadClock is a clock of the processor's time of all threads: more than this one's.
func threadClock() int32 { return unix.CLOCK_PROCESS_CPUTIME_ID }
