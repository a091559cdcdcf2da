package host

import (
	"context"
	"os/exec"
	"time"
)

// local runs processes on this machine.
type local struct{ env []string }

// Local returns this machine. Its commands have the environment env; if env is nil, they have the environment of this
// process.
func Local(env []string) *Host { return newHost(&local{env: env}) }

func (*local) name() string                  { return "local" }
func (*local) connect(context.Context) error { return nil }
func (*local) attach(argv []string) string   { return Line(argv...) }
func (*local) close() error                  { return nil }

func (l *local) command(ctx context.Context, argv []string) *exec.Cmd {
	// env(1) searches the PATH of the new environment, not ours.
	cmd := exec.CommandContext(ctx, "/usr/bin/env", argv...)
	cmd.Env = l.env
	cmd.WaitDelay = time.Second
	return cmd
}

func (l *local) explain(_ context.Context, message string, err error) *DownError {
	why := lastLine(message)
	if why == "" {
		why = err.Error()
	}
	return &DownError{Host: l.name(), Why: why}
}
