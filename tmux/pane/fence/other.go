//go:build !darwin && (!linux || !(amd64 || arm64))

package fence

import (
	"fmt"
	"os/exec"
	"runtime"
)

// Fence holds commands on Linux and macOS only.
type Fence struct{}

// New returns [ErrImpossible].
func New(Config) (*Fence, error) { return nil, unsupported() }

// Renew returns [ErrImpossible].
func (*Fence) Renew(Config) (*Fence, error) { return nil, unsupported() }

// Available returns [ErrImpossible].
func Available(Settings, []string) error { return unsupported() }

func unsupported() error {
	return fmt.Errorf("%w: not supported on %s/%s", ErrImpossible, runtime.GOOS, runtime.GOARCH)
}

// Environ returns nil.
func (*Fence) Environ([]string, []string) []string { return nil }

// Stale reports false.
func (*Fence) Stale() bool { return false }

// Close does nothing.
func (*Fence) Close() {}

// Start starts nothing.
func (*Fence) Start(*exec.Cmd) error { return unsupported() }

// Sweep does nothing.
func (*Fence) Sweep(int) error { return nil }

// Ask does nothing.
func (*Fence) Ask(int, Ask) {}

// Writes returns nil.
func (*Fence) Writes() []string { return nil }

// Reads reports false.
func (*Fence) Reads(string) bool { return false }

// Group returns pid.
func (*Fence) Group(pid int) int { return pid }
