package target

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/tmux"
	"buddy/tools"
	"buddy/tools/shell"
)

// shellRouter is the [Router] of run_shell: it runs a command on one target, or on several at
// once.
type shellRouter struct{ Router }

// group returns the targets of a call for several targets, nil if the call is for one. inner is the call without the
// arguments about targets.
func (r *shellRouter) group(call tools.Call) (names []string, inner tools.Call, err error) {
	inner, at, err := r.split(call)
	if err != nil || len(at.Targets) == 0 {
		return nil, inner, err
	}
	names = at.Targets
	switch {
	case at.Target != "":
		return nil, inner, tools.Invalid("target and targets: give one of them")
	case len(names) > maxTargets:
		return nil, inner, tools.Invalid("targets: %d of them (at most %d)", len(names), maxTargets)
	}
	for i, name := range names {
		if err := r.set.known(name); err != nil {
			return nil, inner, err
		}
		if slices.Contains(names[:i], name) {
			return nil, inner, tools.Invalid("targets: %s is listed twice", name)
		}
	}
	return names, inner, nil
}

// one returns the shell of a call's target and the call for that shell. The shell is nil if the call is invalid or for
// several targets.
func (r *shellRouter) one(call tools.Call) (*shell.Shell, tools.Call) {
	names, inner, err := r.group(call)
	if err != nil || names != nil {
		return nil, inner
	}
	tool, inner, _, err := r.inner(planning(call), call)
	if err != nil {
		return nil, inner
	}
	return tool.(*shell.Shell), inner
}

// ShellDirs returns the folders on the call's target. They are unknown for a call for several targets.
func (r *shellRouter) ShellDirs(call tools.Call) tools.ShellDirs {
	if sh, inner := r.one(call); sh != nil {
		return sh.ShellDirs(inner)
	}
	return tools.ShellDirs{}
}

// Pane returns the pane on the call's target. A call for several targets has no main pane.
func (r *shellRouter) Pane(call tools.Call) tools.PaneUse {
	sh, inner := r.one(call)
	if sh == nil {
		return tools.PaneUse{Terminal: shell.ModeOf(inner) == tmux.Terminal}
	}
	return sh.Pane(inner)
}

// reachLimit bounds how long a call for several targets waits for a target that does not answer.
const reachLimit = 5 * time.Second

// Plan opens all targets of a call at once. A target that is unreachable, or does not answer within 5 seconds, does not
// stop the others: Run reports it.
func (r *shellRouter) Plan(call tools.Call) (action.Action, error) {
	names, inner, err := r.group(call)
	if err != nil {
		return action.Action{}, err
	}
	if names == nil {
		return r.Router.Plan(call)
	}
	act, err := r.set.first.Shell.Plan(inner)
	if err != nil {
		return action.Action{}, err
	}
	act.Targets = make([]action.TargetCwd, len(names))
	all := make(chan struct{})
	go func() {
		defer close(all)
		shell.SideBySide(names, func(_ int, name string) { _, _ = r.set.Open(planning(call), name) })
	}()
	select {
	case <-all:
	case <-time.After(reachLimit):
	}
	for i, name := range names {
		act.Targets[i].Target = name
		if one := r.set.Session(name); one != nil {
			act.Targets[i].Cwd = one.Shell.Cwd()
		}
	}
	act.Target, act.Cwd = strings.Join(names, ", "), ""
	return act, nil
}

// reached returns the shell of a target that Plan has opened. If Plan could not reach the target, reached does not try
// again, because the other targets would have to wait.
func (r *shellRouter) reached(_ context.Context, name string) (*shell.Shell, error) {
	if one := r.set.Session(name); one != nil {
		return one.Shell, nil
	}
	if err := r.set.Failure(name); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s did not answer within %v; check that it is up, or call again for it alone", name, reachLimit)
}

// shell returns the shell of a target, opening the target if needed.
func (r *shellRouter) shell(ctx context.Context, name string) (*shell.Shell, error) {
	one, err := r.set.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return one.Shell, nil
}

// Run runs the command. Each of several targets uses its own pane, and none waits for another.
func (r *shellRouter) Run(ctx context.Context, call tools.Call) tools.Result {
	return r.each(ctx, call, r.Router.Run, r.reached, shell.RunOn)
}

// Releases implements [tools.Releasable]. It returns true for one target and for several.
func (r *shellRouter) Releases(tools.Call) bool { return true }

// Recover finds the results of a command that an earlier process started.
func (r *shellRouter) Recover(ctx context.Context, call tools.Call) tools.Result {
	return r.each(ctx, call, r.Router.Recover, r.shell, shell.RecoverOn)
}

// opener is a function that returns the shell of a target.
type opener = func(ctx context.Context, name string) (*shell.Shell, error)

// each runs a call with the function one if it names one target, or with the function many if it names several.
func (r *shellRouter) each(ctx context.Context, call tools.Call, one func(context.Context, tools.Call) tools.Result, open opener, many func(context.Context, []string, opener, tools.Call) tools.Result) tools.Result {
	names, inner, err := r.group(call)
	switch {
	case err != nil:
		return tools.Failure(err)
	case names == nil:
		return one(ctx, call)
	}
	return many(ctx, names, open, inner)
}

// Revive follows a command that an earlier process left running, on the target of its pane.
func (r *shellRouter) Revive(ctx context.Context, id int, was tools.Task) (tools.Task, error) {
	name := tools.ParsePane(was.Pane).Target
	if name == "" {
		name = r.set.first.Name
	}
	if err := r.set.known(name); err != nil {
		return tools.Task{}, err
	}
	sh, err := r.shell(ctx, name)
	if err != nil {
		return tools.Task{}, err
	}
	return sh.Revive(ctx, id, was)
}
