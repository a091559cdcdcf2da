//go:build !linux || !(amd64 || arm64)

package try

import (
	"context"
	"fmt"
	"runtime"

	"buddy/tmux/pane/fence"
)

// move is used on Linux only; here it lets the common code compile.
type move struct{}

func impossible() error {
	return fmt.Errorf("%w: only on Linux, not on %s/%s", ErrImpossible, runtime.GOOS, runtime.GOARCH)
}

// Possible returns [ErrImpossible].
func Possible(fence.Settings, []string, string) error { return impossible() }

// Run returns [ErrImpossible].
func Run(context.Context, Config, Command) (*Result, error) { return nil, impossible() }

// Keep returns [ErrImpossible].
func (*Result) Keep() error { return impossible() }

// Conflicts returns none.
func (*Result) Conflicts() ([]string, error) { return nil, nil }

// Discard does nothing.
func (*Result) Discard() error { return nil }

// Discard does nothing.
func Discard(string) error { return nil }

// Resume reports false.
func Resume(string) (kept bool, err error) { return false, nil }

// ErrHalf means that a result is kept only in part.
var ErrHalf = fmt.Errorf("%w: nothing is kept", ErrImpossible)
