package ui

import "golang.org/x/sys/unix"

// threadClock is the clock of the processor's time of this thread, for use by all threads.
func threadClock() int32 { return int32(^unix.Gettid()<<3 | 6) }
