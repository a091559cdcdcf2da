package ui

import "golang.org/x/sys/unix"

// threadClock returns the CPU clock of this thread, readable from all threads.
func threadClock() int32 { return int32(^unix.Gettid()<<3 | 6) }
