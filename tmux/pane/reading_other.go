//go:build !linux

package pane

// readsTerminal reports nothing where the system calls of a process cannot be seen.
func readsTerminal(int, bool) bool { return false }
