//go:build !linux

package watch

import (
	"errors"
	"os"
)

// dirs would watch folders without inotify; other systems have no such limit.
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
