//go:build !linux

package watch

import (
	"errors"
	"os"
)

// dirs does nothing: only Linux has a limit on inotify instances.
type dirs struct {
	changed chan os.Signal
	open    map[string]int
}

func newDirs() *dirs { return &dirs{changed: make(chan os.Signal)} }

// Add fails.
func (*dirs) Add(string) error { return errors.ErrUnsupported }

// Forget does nothing.
func (*dirs) Forget(string) {}

// Close does nothing.
func (*dirs) Close() {}
