package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"buddy/texts/searchpath"
)

// Installed returns the version that this machine's tmux reports, such as "tmux 3.3a", or an
// [ErrUnavailable] with the reason why it cannot be used. It starts no server.
func Installed(ctx context.Context) (version string, err error) {
	return installed(ctx, os.Environ())
}

func installed(ctx context.Context, env []string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	cmd := searchpath.Command(ctx, "tmux", "-V")
	cmd.Env = env
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%w: tmux is not installed (looked for it in PATH)", ErrUnavailable)
	}
	if err != nil {
		return "", fmt.Errorf("%w: tmux -V: %w", ErrUnavailable, err)
	}
	version := strings.TrimSpace(string(out))
	return version, gate(version)
}

// Usable returns nil if a tmux with this version (`tmux -V`, "" for none) can be used, else an
// [ErrUnavailable] with the reason.
func Usable(version string) error {
	if strings.TrimSpace(version) == "" {
		return fmt.Errorf("%w: tmux is not installed", ErrUnavailable)
	}
	return gate(version)
}
