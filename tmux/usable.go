package tmux

import (
	"fmt"
	"strings"
)

// Usable reports why the tmux that says this of its version (`tmux -V`, "" is none) cannot
// be used, as an [ErrUnavailable], or nil.
func Usable(version string) error {
	if strings.TrimSpace(version) == "" {
		return fmt.Errorf("%w: tmux is not installed", ErrUnavailable)
	}
	return gate(version)
}
