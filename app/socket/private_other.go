//go:build !linux

package socket

// Private keeps other programs of the person from this process on Linux.
func Private() {}
