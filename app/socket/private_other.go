//go:build !linux

package socket

// Private protects this process from the user's other programs on Linux only.
func Private() {}
