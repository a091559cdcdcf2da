//go:build !darwin && (!linux || !(amd64 || arm64))

package confine

import (
	"fmt"
	"os/exec"
	"runtime"
)

// Box restricts commands on Linux and macOS only.
type Box struct{}

// New returns [ErrImpossible].
func New(Config) (*Box, error) { return nil, Possible() }

// Renew returns [ErrImpossible].
func (*Box) Renew() (*Box, error) { return nil, Possible() }

// Possible returns [ErrImpossible].
func Possible() error {
	return fmt.Errorf("%w: not supported on %s/%s", ErrImpossible, runtime.GOOS, runtime.GOARCH)
}

// Close does nothing.
func (*Box) Close() {}

// Start starts nothing.
func (*Box) Start(*exec.Cmd) error { return Possible() }

// Left returns nothing.
func (*Box) Left() []string { return nil }

// Sweep does nothing.
func (*Box) Sweep(int) error { return nil }

// Reads reports false.
func (*Box) Reads(string) bool { return false }

// Stale reports false.
func (*Box) Stale() bool { return false }

// Group returns pid.
func (*Box) Group(pid int) int { return pid }

// System returns nothing.
func System(_, _ []string) (read, secret []string) { return nil, nil }
