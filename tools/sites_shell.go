package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/tmux"
)

// sitedShell is run_shell where there are several targets: on one of them, or on several
// side by side.
type sitedShell struct{ sited }

// group returns the targets of a call for several, nil when it is for one.
func (t *sitedShell) group(call Call) (names []string, inner Call, err error) {
	inner, at, err := t.split(call)
	if err != nil || len(at.targets) == 0 {
		return nil, inner, err
	}
	names = at.targets
	switch {
	case at.target != "":
		return nil, inner, invalid("target and targets: give one of them")
	case len(names) > maxTargets:
		return nil, inner, invalid("targets: %d of them (at most %d)", len(names), maxTargets)
	}
	for i, name := range names {
		if err := t.known(name); err != nil {
			return nil, inner, err
		}
		if slices.Contains(names[:i], name) {
			return nil, inner, invalid("targets: %s is there twice", name)
		}
	}
	return names, inner, nil
}

// ShellDirs is where the command starts on the one target of a call; not known of several.
func (t *sitedShell) ShellDirs(call Call) ShellDirs {
	names, inner, err := t.group(call)
	if err != nil || names != nil {
		return ShellDirs{}
	}
	ctx, done := planning()
	defer done()
	tool, inner, _, err := t.inner(ctx, inner)
	if shell, ok := tool.(*RunShell); err == nil && ok {
		return shell.ShellDirs(inner)
	}
	return ShellDirs{}
}

// Plan of a call for several targets reaches for all at once. One that is down does not
// stop the others: Run says so.
func (t *sitedShell) Plan(call Call) (action.Action, error) {
	names, inner, err := t.group(call)
	if err != nil {
		return action.Action{}, err
	}
	if names == nil {
		return t.sited.Plan(call)
	}
	ctx, done := planning()
	defer done()
	first, err := t.sites.Open(ctx, t.sites.Names()[0])
	if err != nil {
		return action.Action{}, failed(err)
	}
	act, err := first.shell.Plan(inner)
	if err != nil {
		return action.Action{}, err
	}
	act.Places = make([]action.Place, len(names))
	SideBySide(names, func(i int, name string) {
		act.Places[i].Target = name
		if site, err := t.sites.Open(ctx, name); err == nil {
			act.Places[i].Cwd = site.shell.Cwd()
		}
	})
	act.Target, act.Cwd = strings.Join(names, ", "), ""
	return act, nil
}

// Pane is that on the one target of a call; several begin together, and none of their panes
// is more than the others.
func (t *sitedShell) Pane(call Call) PaneUse {
	names, inner, err := t.group(call)
	if err != nil || names != nil {
		args, _ := decode[shellArgs](inner)
		return PaneUse{Terminal: tmux.Mode(args.Mode) == tmux.Terminal}
	}
	ctx, done := planning()
	defer done()
	tool, inner, _, err := t.inner(ctx, inner)
	shell, ok := tool.(*RunShell)
	if err != nil || !ok {
		return PaneUse{}
	}
	return shell.Pane(inner)
}

// Run runs the command. Of several targets each has a pane of its own, and none waits for
// another.
func (t *sitedShell) Run(ctx context.Context, call Call) Result {
	return t.each(ctx, call, t.sited.Run, (*RunShell).run)
}

// Recover finds the results of a command that an earlier process started.
func (t *sitedShell) Recover(ctx context.Context, call Call) Result {
	return t.each(ctx, call, t.sited.Recover, func(s *RunShell, ctx context.Context, call Call, limit int) Result {
		if _, err := os.Stat(call.Dir); errors.Is(err, fs.ErrNotExist) {
			return Result{Content: "Tool error: it was not started there", IsError: true}
		}
		return s.recover(ctx, call, limit)
	})
}

// each does a call on its one target, or on several at once.
func (t *sitedShell) each(ctx context.Context, call Call, one func(context.Context, Call) Result, do func(*RunShell, context.Context, Call, int) Result) Result {
	names, inner, err := t.group(call)
	if err != nil {
		return failure(err)
	}
	if names == nil {
		return one(ctx, call)
	}
	limit := shellOutput / len(names)
	results := make([]Result, len(names))
	out := &labelled{pass: call.Output, streams: make(map[string]*labelledStream)}
	SideBySide(names, func(i int, name string) {
		defer func() {
			if p := recover(); p != nil {
				results[i] = failure(fmt.Errorf("it failed inside: %v", p))
			}
		}()
		site, err := t.sites.Open(ctx, name)
		if err != nil {
			results[i] = failure(err)
			return
		}
		mine := inner
		mine.Dir, mine.Output = filepath.Join(call.Dir, name), out.of(name)
		mine.Confined = mine.Free && site.shell.Confines() // it was judged for each
		results[i] = do(site.shell, ctx, mine, limit)
		out.flush(name)
	})
	return together(ctx, names, results)
}

// Revive follows a command again that an earlier process left running: on the target of
// its pane.
func (t *sitedShell) Revive(ctx context.Context, id int, was Task) (Task, error) {
	name := ParsePane(was.Pane).Target
	if name == "" {
		name = t.sites.Names()[0]
	}
	if err := t.known(name); err != nil {
		return Task{}, err
	}
	site, err := t.sites.Open(ctx, name)
	if err != nil {
		return Task{}, err
	}
	return site.shell.Revive(ctx, id, was)
}
