package tmux

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"buddy/texts/searchpath"
	"buddy/tmux/pane"
)

// target returns a tmux target that matches our session exactly, not as a prefix.
func (o Options) target() string { return "=" + o.tmuxName() + ":" }

// command returns a command, not started yet, that runs tmux for our server.
func (s *local) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := searchpath.Command(ctx, "tmux", append(append(socketArgs(s.opt), "-u"), args...)...)
	cmd.Env = s.env
	cmd.WaitDelay = time.Second
	return cmd
}

func (s *local) control(args ...string) (*exec.Cmd, error) {
	return s.command(context.Background(), args...), nil
}

// tmux runs one tmux command without the control client.
func (s *local) tmux(ctx context.Context, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	began := time.Now()
	out, err := s.command(ctx, args...).CombinedOutput()
	logged(ctx, strings.Join(args, " "), began, err)
	return string(out), err
}

// check fails when tmux is missing or too old for the control mode we need.
func (s *local) check(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	_, err := installed(ctx, s.env)
	return err
}

// gate returns an error if tmux is too old, judging by the output of `tmux -V`.
func gate(version string) error {
	if !recent(version) {
		return fmt.Errorf("%w: %q is too old (need 3.2 or newer)", ErrUnavailable, strings.TrimSpace(version))
	}
	return nil
}

// recent reports whether the output of `tmux -V` names version 3.2 or later. An output without a number is that of a
// development build, which counts as recent.
func recent(version string) bool {
	i := strings.IndexAny(version, "0123456789")
	if i < 0 {
		return true
	}
	var major, minor int
	if n, _ := fmt.Sscanf(version[i:], "%d.%d", &major, &minor); n < 1 {
		return true
	}
	return major > 3 || major == 3 && minor >= 2
}

func socketArgs(o Options) []string {
	if strings.Contains(o.Socket, "/") {
		return []string{"-S", o.Socket}
	}
	return []string{"-L", o.Socket}
}

// ServerSocket returns the path of the socket of the tmux server on this machine. socket is as in [Options]; getenv
// looks up the environment, usually [os.Getenv].
func ServerSocket(getenv func(string) string, socket string) string {
	if socket = cmp.Or(socket, owner); strings.Contains(socket, "/") {
		return socket
	}
	return filepath.Join(cmp.Or(getenv("TMUX_TMPDIR"), "/tmp"), "tmux-"+strconv.Itoa(os.Getuid()), socket)
}

// attachArgs returns the command with which the user attaches a terminal on the same machine to our session.
func attachArgs(o Options) []string {
	return append(append([]string{"tmux"}, socketArgs(o)...), "attach", "-t", o.tmuxName())
}

// removeArgs returns the command that ends our session and all programs in it.
func removeArgs(o Options) []string {
	return append(append([]string{"tmux"}, socketArgs(o)...), "kill-session", "-t", "="+o.tmuxName())
}

// reason returns the last line that tmux printed, or the text of err if it printed nothing.
func reason(out string, err error) string {
	out = strings.TrimSpace(out)
	if out == "" {
		return err.Error()
	}
	return out[strings.LastIndexByte(out, '\n')+1:]
}

// cleanEnv removes the variables that point to a tmux around this process.
func cleanEnv(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	return pane.Without(env, "TMUX", "TMUX_PANE")
}
