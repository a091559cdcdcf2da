//go:build !linux

package pane

// Possible returns ErrNoSandbox: only Linux has Landlock.
func (*Sandbox) Possible() error { return ErrNoSandbox }

func (*Sandbox) enter(string) error { return ErrNoSandbox }
