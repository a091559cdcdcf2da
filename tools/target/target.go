// Package target lets tools run on several targets: this machine, ssh hosts and containers.
//
// A [Target] is a machine or a container. A [Session] is a target with what one session of buddy uses there: panes,
// files and tools. A [Set] holds all targets of a session. Each tool works on a single target; [Set.Route] returns a
// tool that runs on the target that a call names.
//
//	web := &target.Target{Name: "web", Host: h}
//	set := target.NewSet(first, []*target.Target{web}, open)
//	t := set.Route(first.Shell)
//	call := tools.Call{Name: "run_shell", Arguments: `{"command": "uptime", "target": "web"}`}
//	call.Planned, err = t.Plan(call) // connects to web; call.Planned.Target is "web"
package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"buddy/agent/policy"
	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tmux/pane/fence"
	"buddy/tools/file"
	"buddy/tools/fs"
)

// connectTimeout limits connecting, querying the environment and pinging.
const connectTimeout = 40 * time.Second

// Target describes where commands run and files are: on this machine, or on a machine or in a container that Host
// reaches. A Target outlives the sessions that use it.
type Target struct {
	Name string
	Host *host.Host // nil for this machine; closed by Close
	// Away is the error of the last attempt to reach the target, nil if it succeeded. Only one goroutine may use it.
	Away *host.DownError

	// Settings of the target.
	Cwd        string // where commands start, "" is the default folder
	Doc        string // its description for the model
	Address    string // of the ssh host or the container, "" if Name is the address
	Container  bool   // Address is a container
	Production bool   // every side effect needs approval
}

// Connect connects to the target, for at most 40 seconds. An unreachable target is no error:
// Away is set instead.
func (t *Target) Connect(ctx context.Context) error {
	if t.Host == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, connectTimeout)
	defer stop()
	err := t.Host.Connect(ctx)
	if errors.As(err, &t.Away) {
		return nil
	}
	return t.named(err)
}

// named adds the target's name to an error.
func (t *Target) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", t.Name, err)
}

// Close ends the connection; close the sessions first.
func (t *Target) Close() error {
	if t.Host == nil {
		return nil
	}
	return t.Host.Close()
}

// Ping measures the round trip of an empty command; it waits at most 40 seconds.
func (t *Target) Ping() (time.Duration, error) {
	ctx, stop := context.WithTimeout(context.Background(), connectTimeout)
	defer stop()
	began := time.Now()
	_, err := t.Host.Run(ctx, ":", io.Discard, io.Discard)
	return time.Since(began), err
}

// Kind returns a description of the target's kind and its address, for display; "" where
// unknown.
func (t *Target) Kind() (kind, address string) {
	switch {
	case t.Host == nil:
		return "this machine", ""
	case t.Container:
		return "container", t.Address
	case t.Address != "":
		return "ssh", t.Address
	}
	for _, kind := range []string{"ssh", "container"} {
		if address, ok := strings.CutSuffix(t.Name, " ("+kind+")"); ok {
			return kind, address
		}
	}
	return "", t.Name
}

// Confines returns nil if commands without approval can run in the read-only sandbox of a session with these options,
// else an error with the reason.
func (t *Target) Confines(env Environment, o tmux.Options) error {
	return tmux.Confines(t.options(env, o))
}

// options fills in the options that depend on the target.
func (t *Target) options(env Environment, o tmux.Options) tmux.Options {
	o.Host, o.Cwd, o.Reach.Read = t.Host, env.Dir, append([]string{env.Dir}, env.Also...)
	if t.Host == nil && o.Fence == nil {
		o.Fence = &fence.Settings{Work: o.Reach.Read}
	}
	return o
}

// workspace returns the workspace at a folder of the target.
func (t *Target) workspace(dir string) (*file.Workspace, error) {
	if t.Host != nil {
		return file.NewTargetWorkspace(t.Host, t.Name, dir, policy.Secret), nil
	}
	if t.Name != fs.Local.Name() {
		return file.NewWorkspaceAs(t.Name, dir, policy.Secret)
	}
	return file.NewWorkspace(dir, policy.Secret)
}
