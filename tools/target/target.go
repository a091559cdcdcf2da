// Package target runs tools on this machine, ssh hosts and containers.
//
// A [Target] says where commands run and files are. A [Session] is a target as one session of
// buddy uses it: its environment, panes and files, and the tools that work on them. A [Set] holds
// all targets of a session. The tools themselves know nothing of other targets: [Set.Route] makes
// of one a tool that runs on the target which its call names.
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
	"buddy/tools/file"
)

// lookTime bounds making a connection, looking around and asking for a sign of life.
const lookTime = 40 * time.Second

// Target is where commands run and where files are: this machine, or what a host reaches. It
// outlives the sessions that use it.
type Target struct {
	Name string
	Host *host.Host // nil is this machine; Close closes it
	// Away is why the target could not be reached when somebody tried last. One goroutine uses it.
	Away *host.DownError

	// Of a target of the configuration.
	Cwd        string // where commands start, "" is the usual folder
	Doc        string // what the model is told of it
	Address    string // of the ssh host or the container, "" if the name says it
	Container  bool   // Address is a container
	Production bool   // nothing happens there without a question
}

// Connect reaches for the target, for at most 40 seconds. That it is away is no error: Away says so.
func (t *Target) Connect(ctx context.Context) error {
	if t.Host == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	err := t.Host.Connect(ctx)
	if errors.As(err, &t.Away) {
		return nil
	}
	return t.named(err)
}

// named says of which target an error is.
func (t *Target) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", t.Name, err)
}

// Close ends the connection, after the sessions.
func (t *Target) Close() error {
	if t.Host == nil {
		return nil
	}
	return t.Host.Close()
}

// Ping measures how long the target takes to do nothing; it waits at most 40 seconds.
func (t *Target) Ping() (time.Duration, error) {
	ctx, stop := context.WithTimeout(context.Background(), lookTime)
	defer stop()
	began := time.Now()
	_, err := t.Host.Run(ctx, ":", io.Discard, io.Discard)
	return time.Since(began), err
}

// Kind returns what the target is, for people, and its address; both are "" where they are not known.
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

// Confines returns nil when free commands of a session with these options can run in the read-only
// sandbox, else why not.
func (t *Target) Confines(env Environment, o tmux.Options) error {
	return tmux.Confines(t.options(env, o))
}

// options fills in what is up to the target.
func (t *Target) options(env Environment, o tmux.Options) tmux.Options {
	o.Host, o.Cwd, o.Reach.Read = t.Host, env.Dir, append([]string{env.Dir}, env.Also...)
	return o
}

// workspace returns the files of a folder of the target.
func (t *Target) workspace(dir string) (*file.Workspace, error) {
	if t.Host != nil {
		return file.NewTargetWorkspace(t.Host, t.Name, dir, policy.Secret), nil
	}
	return file.NewWorkspace(dir, policy.Secret)
}
