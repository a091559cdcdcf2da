// Package shell holds the tools that run commands in the panes of a target: run_shell, tools that read panes and type
// into them, and tools for commands that keep running in the background.
//
//	sh := shell.New(panes, plain, "local", cwd, warn)
//	registry := tools.NewRegistry(append(shell.Panes(sh), sh, shell.NewTaskOutput(sh), shell.NewTaskKill(sh))...)
package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"buddy/agent/action"
	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/fence"
	"buddy/tools"
)

//go:embed run_shell.md
var runShellText string

// Limits bounds the output of commands that the model gets, in bytes.
type Limits struct {
	Output int // of both output streams together
	Screen int // of a pane's screen and scrollback
}

// DefaultLimits apply unless Limit sets others.
var DefaultLimits = Limits{Output: 4000, Screen: 8000}

// cancelled is the start of the result of a command that was stopped.
const cancelled = "operation cancelled by user"

// Shell is the tool run_shell on one target. Create it with New.
type Shell struct {
	tools.Schema
	panes    *tmux.Session
	plain    *tmux.Session
	target   string
	warn     func(text string)
	noPanes  atomic.Bool
	first    string                 // where the first command starts; "" is unknown
	cwd      atomic.Pointer[string] // where the next command starts; "" is unknown
	fences   bool                   // approved commands run in the workspace sandbox
	confines bool                   // commands that need no approval run in the read-only sandbox
	limits   Limits
	// paneTarget is the target's name in the names of the shell's panes, "" for the first target.
	paneTarget string
	jobs       *jobs // of all targets
	// left is the command in the shared pane that was sent to the background, nil if there is none.
	left atomic.Pointer[tmux.Running]
	// departed is the folder in which the shared pane was before its last background command ended, nil for none.
	departed  atomic.Pointer[string]
	touched   atomic.Int64 // counts actions on the panes
	fenceable bool         // calls for several targets can run in the sandbox on this target
	alone     bool         // nobody can type into panes
}

// ShareTasks makes t, the shell of another target, number its tasks together with those of first. The names of its
// panes get the target as prefix, as in target:%3. Call it before the first tool call.
func (t *Shell) ShareTasks(first *Shell) {
	t.jobs, t.paneTarget = first.jobs, t.target
}

// ref returns the name of the pane with tmux's id, as the user and the model know it.
func (t *Shell) ref(id string) tools.PaneRef { return tools.PaneRef{Target: t.paneTarget, ID: id} }

// paneID returns tmux's id of a named pane. The name may be followed by the pane's title, as error messages write it. A
// name on another target is returned unchanged.
func (t *Shell) paneID(name string) string {
	name, _, _ = strings.Cut(name, " (")
	if ref := tools.ParsePane(name); ref.Target == t.paneTarget {
		return ref.ID
	}
	return name
}

// Fence makes approved commands run in the workspace sandbox, except those that ask to run outside. Call it before the
// first tool call.
func (t *Shell) Fence() { t.fences = true }

// Fenceable allows calls for several targets that are marked as Fenced to run in the workspace sandbox on this target.
// Call it before the first tool call.
func (t *Shell) Fenceable() { t.fenceable = true }

// Unattend marks that nobody can type into a pane. Call it before the first tool call.
func (t *Shell) Unattend() { t.alone = true }

// Limit limits the output of commands that the model gets. Call it before the first tool call.
func (t *Shell) Limit(l Limits) { t.limits = l }

// Confine makes commands without approval run in the read-only sandbox. Call it before the first tool call.
func (t *Shell) Confine() { t.confines = true }

// New returns the tool. It runs commands in panes or, without tmux, in plain, after calling warn once. cwd is where the
// first command starts, "" if unknown.
func New(panes, plain *tmux.Session, target, cwd string, warn func(text string)) *Shell {
	t := &Shell{Schema: tools.Define[shellArgs]("run_shell", runShellText), panes: panes, plain: plain, target: target, warn: warn, first: cwd, jobs: &jobs{}, limits: DefaultLimits}
	t.cwd.Store(&cwd)
	return t
}

type shellArgs struct {
	Command  string `json:"command"`
	Why      string `json:"why,omitempty"`
	Risk     string `json:"risk,omitempty" schema:"-"`
	Mutation bool   `json:"mutation,omitempty" schema:"-"`
	Privesc  bool   `json:"privesc,omitempty" schema:"-"`
	Mode     string `json:"mode,omitempty" enum:"cap,merge,captty,tty"`
	// Wait is true, the default, false or a duration.
	Wait    json.RawMessage `json:"wait,omitempty" type:"string"`
	Outside bool            `json:"outside,omitempty"`
}

// ModeOf returns the mode that a call of run_shell asks for, "" for the default.
func ModeOf(call tools.Call) tmux.Mode {
	args, _ := tools.Decode[shellArgs](call) // errors are reported elsewhere
	return tmux.Mode(args.Mode)
}

// riskOf returns the risk that a model stated; "" if it is invalid.
func riskOf(said string) action.Risk {
	if r := action.Risk(said); r == action.Low || r == action.Medium || r == action.High {
		return r
	}
	return ""
}

// unattended limits the wait for a command that may read keys while nobody can type. It is short because not every wait
// for keys is detected; after it, the model can type.
var unattended = 8 * time.Second

// leastWait is the shortest wait for the second run of a command, even if the first run used up all of the time.
const leastWait = time.Second

// interactive reports whether the command reads keys.
func (a shellArgs) interactive() bool {
	return tmux.Mode(a.Mode) == tmux.Prompted || tmux.Mode(a.Mode) == tmux.Terminal
}

// patience parses the argument wait. It returns how long Run waits for the end of the command; forever means without
// limit.
func (a shellArgs) patience() (d time.Duration, forever bool, err error) {
	var v any
	if len(a.Wait) > 0 {
		if err := json.Unmarshal(a.Wait, &v); err != nil {
			return 0, false, tools.Invalid("wait: %v", err)
		}
	}
	text := ""
	switch v := v.(type) {
	case nil:
		return 0, true, nil
	case bool:
		return 0, v, nil
	case float64:
		text = string(a.Wait)
	case string:
		if text = v; v == "true" || v == "false" {
			return 0, v == "true", nil
		}
	default:
		return 0, false, tools.Invalid("wait: expected true, false or a time, got %s", tools.KindOf(a.Wait))
	}
	if d, err = tools.ParseDuration(text); err != nil {
		return 0, false, tools.Invalid("wait: %v; or true, or false", err)
	}
	return d, false, nil
}

// Cwd returns the folder in which the next command starts, "" if unknown.
func (t *Shell) Cwd() string {
	t.sharedBusy() // updates the folder after a background command has ended
	return *t.cwd.Load()
}

// elsewhere returns a remark that names the folder of the next command, "" if that is the first command's folder or
// unknown.
func (t *Shell) elsewhere() string {
	now := t.Cwd()
	if now == "" || t.first == "" || now == t.first {
		return ""
	}
	return "the shell is in " + now
}

// ShellDirs returns the folders of the shell.
func (t *Shell) ShellDirs(tools.Call) tools.ShellDirs {
	return tools.ShellDirs{Now: t.Cwd(), First: t.first}
}

// Plan describes the command that would run.
func (t *Shell) Plan(call tools.Call) (action.Action, error) {
	args, err := tools.Decode[shellArgs](call)
	if err != nil {
		return action.Action{}, err
	}
	if strings.ContainsRune(args.Command, 0) {
		return action.Action{}, tools.Invalid("command: has a NUL byte, which no shell can run")
	}
	if _, _, err := args.patience(); err != nil {
		return action.Action{}, err
	}
	if args.Outside && t.fences && strings.TrimSpace(args.Why) == "" {
		return action.Action{}, tools.Invalid("why: outside asks the user, who has to read why the sandbox is in the way")
	}
	preview, noTry := "", ""
	if _, forever, _ := args.patience(); !forever {
		noTry = "it may keep running in the background"
	}
	if args.interactive() {
		preview, noTry = "reads what is typed into its pane", "it reads what is typed into its pane"
	}
	return action.Action{
		Kind: kindOf(args.Command), Tool: "run_shell", Target: t.target, Command: args.Command, Cwd: t.Cwd(), Preview: preview, NoTry: noTry,
		Why: args.Why, Risk: riskOf(args.Risk), Mutation: args.Mutation, Privesc: args.Privesc,
		Outside: args.Outside || args.interactive(), // the sandbox has no terminal
	}, nil
}

// kindOf returns Git for a command line that is a single git command, else Shell. The policy judges both kinds by the
// whole command.
func kindOf(command string) action.Kind {
	if words := strings.Fields(command); len(words) > 1 && words[0] == "git" && !strings.ContainsAny(command, "|&;<>()`$\\\n") {
		return action.Git
	}
	return action.Shell
}

// Pane returns the shared pane if the call's command runs there.
func (t *Shell) Pane(call tools.Call) tools.PaneUse {
	args, err := tools.Decode[shellArgs](call)
	if err != nil || t.noPanes.Load() {
		return tools.PaneUse{}
	}
	use := tools.PaneUse{Terminal: tmux.Mode(args.Mode) == tmux.Terminal}
	if !t.ownPane(args, call) && call.OwnPane == "" && !t.sharedBusy() {
		use.Pane = t.ref(t.panes.Pane())
	}
	return use
}

// ownPane reports whether the command of a call gets a pane of its own.
func (t *Shell) ownPane(args shellArgs, call tools.Call) bool {
	_, forever, _ := args.patience()
	return !forever || args.interactive() && (call.Ask == nil || t.alone)
}

// Run runs the command and waits for its end, or for the time that the argument wait sets. It stops the command if ctx
// ends first.
func (t *Shell) Run(ctx context.Context, call tools.Call) tools.Result {
	return t.run(ctx, call, t.limits.Output)
}

// run implements Run. The result contains at most limit bytes of output.
func (t *Shell) run(ctx context.Context, call tools.Call, limit int) tools.Result {
	args, err := tools.Decode[shellArgs](call)
	if err != nil {
		return tools.Failure(err)
	}
	patience, forever, err := args.patience()
	if err != nil {
		return tools.Failure(err)
	}
	t.touched.Add(1)
	spec := tmux.Spec{Dir: call.Dir, Command: args.Command, Output: passOn(call), Free: call.Free, Confined: call.Confined, Fenced: call.Fenced}
	spec.Mode = tmux.Mode(args.Mode)
	if t.fences && !call.Free && !args.Outside && !args.interactive() {
		spec.Fenced = true
	}
	if call.Reach != nil {
		spec.Hosts = func(h pane.Host) error { return reach(ctx, call, h) }
	}
	if forever && t.ownPane(args, call) {
		patience = unattended
	}
	if call.Spent > 0 {
		spec.From = call.Planned.Cwd
		patience = max(patience-call.Spent, min(patience, leastWait))
	} else if err := t.moved(call); err != nil {
		return notStarted("the command was not started", err)
	}
	if t.ownPane(args, call) {
		return t.runInOwnPane(ctx, call, spec, patience, limit)
	}
	if call.OwnPane != "" || t.sharedBusy() {
		return t.runBeside(ctx, call, spec, limit)
	}
	return t.runShared(ctx, call, spec, limit)
}

// reach decides whether the command of a call may connect to a host.
func reach(ctx context.Context, call tools.Call, h pane.Host) error {
	err := call.Reach(ctx, h.Name, h.Port)
	if errors.Is(err, tools.ErrNobody) {
		return fence.ErrNobody
	}
	return err
}

// runShared runs the command in the shared pane until it ends or the user sends it to the background.
func (t *Shell) runShared(ctx context.Context, call tools.Call, spec tmux.Spec, limit int) tools.Result {
	out := newOutputTail(spec.Output, t.limits.Output)
	spec.Output = out.write
	starting, stop := untilReleased(ctx, call)
	run, err := t.start(starting, spec)
	stop()
	if err != nil && released(call) && !errors.Is(err, tmux.ErrUnconfirmed) {
		err = errors.New("this command waited for another one, which the user has now sent to the background; call run_shell again with this command")
	}
	if err != nil {
		return notStarted("the command was not started", err)
	}
	return t.await(ctx, call, &shellJob{shell: t, title: spec.Command, dir: spec.Dir, run: run, shared: true, out: out, since: time.Now()}, toTheEnd, limit)
}

// notStarted returns the result of a command that did not run, or possibly ran; what says which. A command meant for a
// sandbox never runs outside of it without approval.
func notStarted(what string, err error) tools.Result {
	switch {
	case errors.Is(err, tmux.ErrUnconfirmed):
		return tools.Failure(fmt.Errorf("%w; look there before you run it again", err))
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	}
	err = fmt.Errorf("%s: %w", what, err)
	for _, impossible := range []error{confine.ErrImpossible, fence.ErrImpossible} {
		if strings.Contains(err.Error(), impossible.Error()) { // errors of a target lose their type
			err = fmt.Errorf(`%w; with "outside": true it asks the user and runs without`, err)
		}
	}
	return tools.Failure(err)
}

// inShared is the suffix of a command's folder when the command got no separate pane.
const inShared = "-shared"

// runBeside runs the command of a subagent to its end in a separate pane. If there is no room for one, it waits for the
// shared pane, unless a background command runs there.
func (t *Shell) runBeside(ctx context.Context, call tools.Call, spec tmux.Spec, limit int) tools.Result {
	out := newOutputTail(spec.Output, t.limits.Output)
	spec.Own, spec.Title, spec.Output = true, call.OwnPane, out.write
	run, err := t.start(ctx, spec)
	shared := errors.Is(err, tmux.ErrPanes) && !t.sharedBusy()
	if shared {
		spec.Own, spec.Dir = false, spec.Dir+inShared // the call's folder holds traces of the attempt
		run, err = t.start(ctx, spec)
	}
	if err != nil {
		return notStarted("the command was not started", err)
	}
	return t.await(ctx, call, &shellJob{shell: t, title: spec.Command, dir: spec.Dir, run: run, shared: shared, out: out, since: time.Now()}, toTheEnd, limit)
}

// runInOwnPane runs the command in a separate pane and waits up to patience for its end.
func (t *Shell) runInOwnPane(ctx context.Context, call tools.Call, spec tmux.Spec, patience time.Duration, limit int) tools.Result {
	out := newOutputTail(spec.Output, t.limits.Output)
	spec.Own, spec.Output = true, out.write
	spec.Background = spec.Mode != tmux.Prompted && spec.Mode != tmux.Terminal
	start := t.start
	if patience == 0 {
		start = t.startPane // without a pane its progress would be invisible
	}
	run, err := start(ctx, spec)
	if err != nil {
		return notStarted("the command was not started", err)
	}
	return t.await(ctx, call, &shellJob{shell: t, title: spec.Command, dir: spec.Dir, run: run, out: out, since: time.Now()}, patience, limit)
}

// startPane starts a command that requires a pane.
func (t *Shell) startPane(ctx context.Context, spec tmux.Spec) (*tmux.Running, error) {
	if t.noPanes.Load() {
		return nil, errNoPanes
	}
	run, err := t.panes.Start(ctx, spec)
	if errors.Is(err, tmux.ErrUnavailable) {
		return nil, fmt.Errorf("%w (%w)", errNoPanes, err)
	}
	return run, err
}

var errNoPanes = errors.New("there are no panes here, because tmux is not available: use run_shell with \"wait\": true or a time")

// Recover returns the result of a command that an earlier process started.
func (t *Shell) Recover(ctx context.Context, call tools.Call) tools.Result {
	return t.recover(ctx, call, t.limits.Output)
}

// recover implements Recover. The result contains at most limit bytes of output.
func (t *Shell) recover(ctx context.Context, call tools.Call, limit int) tools.Result {
	args, err := tools.Decode[shellArgs](call)
	if err != nil {
		return tools.Failure(err)
	}
	out := newOutputTail(passOn(call), t.limits.Output)
	run, err := t.panes.Reattach(ctx, usedDir(call.Dir), out.write)
	if err != nil {
		return tools.Result{Content: tools.Interrupted + " (" + err.Error() + ")", IsError: true}
	}
	patience, forever, err := args.patience()
	if err != nil || forever {
		patience = toTheEnd
	}
	return t.await(ctx, call, &shellJob{shell: t, title: args.Command, dir: call.Dir, run: run, shared: t.runsShared(run), out: out, since: time.Now()}, patience, limit)
}

// usedDir returns the folder with the command's files. dir is the folder of the call.
func usedDir(dir string) string {
	if _, err := os.Stat(dir + inShared); err == nil {
		return dir + inShared
	}
	return dir
}

func (t *Shell) start(ctx context.Context, spec tmux.Spec) (*tmux.Running, error) {
	if !t.noPanes.Load() {
		run, err := t.panes.Start(ctx, spec)
		if !errors.Is(err, tmux.ErrUnavailable) {
			return run, err
		}
		if !t.noPanes.Swap(true) {
			t.warn(fmt.Sprintf("commands run without a pane: %v", err))
		}
		spec.Dir += "-plain" // the call's folder may hold traces of the attempt
	}
	return t.plain.Start(ctx, spec)
}

func passOn(call tools.Call) tmux.Output {
	if call.Output == nil {
		return nil
	}
	return func(stream string, p []byte, total int64) {
		call.Output(tools.Chunk{Stream: tools.Stream(stream), Text: p, Total: total})
	}
}

// wait waits for the end of a command, even after cancelling it.
func wait(ctx context.Context, run *tmux.Running) (tmux.Result, error) {
	res, err := run.Wait(ctx)
	if ctx.Err() != nil {
		run.Cancel()
		res, err = run.Wait(context.WithoutCancel(ctx))
		res.Cancelled = true
	}
	return res, err
}
