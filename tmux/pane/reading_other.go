//go:build !linux

package pane

// readsTerminal returns false on systems that do not show the system calls of processes.
func readsTerminal(int, bool) bool { return false }
