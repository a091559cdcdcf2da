package tools

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/tmux"
)

//go:embed run_shell.md
var runShellText string

// shellOutput is how much of each stream the model sees, in bytes (D04).
const shellOutput = 4000

// interrupted begins the result of a call of which nobody knows what became.
const interrupted = "interrupted: outcome unknown, check before repeating"

// cancelled begins the result of a command that was stopped (A17).
const cancelled = "operation cancelled by user"

// RunShell is the tool run_shell. Make it with NewRunShell.
type RunShell struct {
	panes   *tmux.Session
	plain   *tmux.Session
	target  string
	say     func(text string)
	noPanes atomic.Bool
	cwd     atomic.Pointer[string] // where the next command starts; "" = not known
}

// NewRunShell returns the tool. Commands run in panes; where there is no tmux they run
// in plain, and say is told so once. cwd is where the first one starts, "" if that is not
// known.
func NewRunShell(panes, plain *tmux.Session, target, cwd string, say func(text string)) *RunShell {
	t := &RunShell{panes: panes, plain: plain, target: target, say: say}
	t.cwd.Store(&cwd)
	return t
}

type shellArgs struct {
	Command  string `json:"command" desc:"the program text for the shell"`
	Why      string `json:"why" desc:"one sentence for the person who approves"`
	Risk     string `json:"risk" desc:"harm it could do" enum:"low,medium,high"`
	Mutation bool   `json:"mutation" desc:"changes files, settings or services"`
	Privesc  bool   `json:"privesc" desc:"uses sudo or the like"`
	Merge    bool   `json:"merge,omitempty" desc:"stderr into stdout, in true order"`
}

// shellResult is the payload of D03.
type shellResult struct {
	ExitCode   int      `json:"exit_code"`
	Stdout     string   `json:"stdout"`
	Stderr     string   `json:"stderr"`
	DurationMS int64    `json:"duration_ms"`
	Truncated  bool     `json:"truncated"`
	FullOutput string   `json:"full_output,omitempty"`
	Notices    []string `json:"notices,omitempty"`
}

// Definition is what the model reads.
func (*RunShell) Definition() model.ToolDef { return define[shellArgs]("run_shell", runShellText) }

// Plan says which command would run.
func (t *RunShell) Plan(call Call) (action.Action, error) {
	args, err := decode[shellArgs](call)
	if err != nil {
		return action.Action{}, err
	}
	if strings.ContainsRune(args.Command, 0) {
		return action.Action{}, invalid("command: has a NUL byte, which no shell can run")
	}
	return action.Action{
		Kind: action.Shell, Tool: "run_shell", Target: t.target, Command: args.Command, Cwd: *t.cwd.Load(),
		Why: args.Why, Risk: action.Risk(args.Risk), Mutation: args.Mutation, Privesc: args.Privesc,
	}, nil
}

// Run runs the command and waits for its end. When ctx ends it is stopped.
func (t *RunShell) Run(ctx context.Context, call Call) Result {
	args, err := decode[shellArgs](call)
	if err != nil {
		return failure(err)
	}
	spec := tmux.Spec{Dir: call.Dir, Command: args.Command, Output: passOn(call), Free: call.Free}
	if args.Merge {
		spec.Mode = tmux.Merge
	}
	run, err := t.start(ctx, spec)
	if err != nil {
		return failure(fmt.Errorf("the command was not started: %w", err))
	}
	res := wait(ctx, run)
	cwd := run.Cwd()
	t.cwd.Store(&cwd)
	return res
}

// Recover finds the result of a command that an earlier process started (DECISIONS 8).
func (t *RunShell) Recover(ctx context.Context, call Call) Result {
	run, err := t.panes.Reattach(ctx, call.Dir, passOn(call))
	if err != nil {
		return Result{Content: interrupted + " (" + err.Error() + ")", IsError: true}
	}
	return wait(ctx, run)
}

func (t *RunShell) start(ctx context.Context, spec tmux.Spec) (*tmux.Running, error) {
	if !t.noPanes.Load() {
		run, err := t.panes.Start(ctx, spec)
		if !errors.Is(err, tmux.ErrUnavailable) {
			return run, err
		}
		if !t.noPanes.Swap(true) {
			t.say(fmt.Sprintf("commands run without a pane: %v", err))
		}
		spec.Dir += "-plain" // the other one may hold traces of the attempt
	}
	return t.plain.Start(ctx, spec)
}

func passOn(call Call) tmux.Output {
	if call.Output == nil {
		return nil
	}
	return func(stream string, p []byte, total int64) {
		call.Output(Chunk{Stream: Stream(stream), Text: p, Total: total})
	}
}

// wait returns the command's result. A cancelled one has ended, too, when it returns.
func wait(ctx context.Context, run *tmux.Running) Result {
	res, err := run.Wait(ctx)
	if ctx.Err() != nil {
		run.Cancel()
		res, err = run.Wait(context.WithoutCancel(ctx))
		res.Cancelled = true
	}
	out := shellResult{ExitCode: res.ExitCode, DurationMS: res.Duration.Milliseconds()}
	var cutOut, cutErr bool
	out.Stdout, cutOut = edges(res.Stdout)
	out.Stderr, cutErr = edges(res.Stderr)
	if out.Truncated = cutOut || cutErr; out.Truncated {
		out.FullOutput = strings.Join(paths(res), ", ")
	}
	if res.Fault != "" {
		out.Notices = append(out.Notices, res.Fault)
	}
	if res.Signal != 0 {
		out.Notices = append(out.Notices, fmt.Sprintf("the shell was ended by signal %d", res.Signal))
	}
	r := success(out, string(ends(res.Stdout))+string(ends(res.Stderr)))
	r.ExitCode, r.Took = &res.ExitCode, res.Duration
	if p := paths(res); len(p) > 0 {
		r.Full = &File{Path: p[0], Bytes: res.Stdout.Total + res.Stderr.Total}
	}
	switch {
	case res.Cancelled && err != nil: // the target has gone, and with it the exit code
		r.IsError, r.ExitCode = true, nil
		r.Content = fmt.Sprintf("%s; how the command ended is not known: %v%s", cancelled, err, soFar(out))
	case res.Cancelled:
		r.IsError = true
		r.Content = fmt.Sprintf("%s; exit code %d%s", cancelled, out.ExitCode, soFar(out))
	case err != nil:
		r.IsError, r.ExitCode = true, nil
		r.Content = fmt.Sprintf("Tool error: %v%s", err, soFar(out))
	}
	return r
}

// soFar tells what a command had printed when it was cut off.
func soFar(out shellResult) string {
	var b strings.Builder
	for _, s := range []struct{ name, text string }{{"stdout", out.Stdout}, {"stderr", out.Stderr}} {
		if s.text != "" {
			fmt.Fprintf(&b, "\n%s so far:\n%s", s.name, strings.TrimRight(s.text, "\n"))
		}
	}
	return b.String()
}

// paths names the files with the streams that are not empty.
func paths(res tmux.Result) []string {
	var p []string
	for _, c := range []tmux.Captured{res.Stdout, res.Stderr} {
		if c.Total > 0 {
			p = append(p, c.Path)
		}
	}
	return p
}

// ends returns all that is at hand of a stream's end.
func ends(c tmux.Captured) []byte {
	if int64(len(c.Head)+len(c.Tail)) == c.Total {
		return append(bytes.Clone(c.Head), c.Tail...)
	}
	return c.Tail
}

// edges returns what the model sees of a stream: all of it, or its beginning and its
// end with a note of what is between.
func edges(c tmux.Captured) (text string, cut bool) {
	if c.Total <= shellOutput && int64(len(c.Head)+len(c.Tail)) == c.Total {
		return valid(append(bytes.Clone(c.Head), c.Tail...)), false
	}
	whole := ends(c)
	first := c.Head[:min(len(c.Head), shellOutput/2)]
	last := whole[max(0, len(whole)-shellOutput/2):]
	between := c.Total - int64(len(first)+len(last))
	return fmt.Sprintf("%s\n%s %d bytes\n%s", valid(first), truncated, between, valid(last)), true
}

// valid replaces what is not UTF-8: cut characters and binary output.
func valid(p []byte) string { return strings.ToValidUTF8(string(p), "\uFFFD") }
