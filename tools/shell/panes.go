package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tmux"
	"buddy/tools"
)

var (
	//go:embed capture-pane.md
	captureText string
	//go:embed send-keys.md
	sendKeysText string
	//go:embed tmux_create_pane.md
	createPaneText string
	//go:embed tmux_kill_pane.md
	killPaneText string
)

// paneDelay is the longest delay that a call may set before a capture or a key.
const paneDelay = 30 * time.Second

// Panes returns the tools that capture the panes of shell and type into them. A model seldom needs them, so they belong
// in a [tools.Deferred].
func Panes(shell *Shell) []tools.Tool {
	return []tools.Tool{
		tools.New(&capturePane{shell: shell, seen: make(map[captureKey]captured)}, "capture-pane", captureText),
		tools.New(&sendKeys{shell: shell}, "send-keys", sendKeysText),
		tools.New(&createPane{shell: shell}, "tmux_create_pane", createPaneText),
		tools.New(&killPane{shell: shell}, "tmux_kill_pane", killPaneText),
		tools.New(&createSession{shell: shell}, "tmux_create_session", createSessionText),
		tools.New(&killSession{shell: shell}, "tmux_kill_session", killSessionText),
	}
}

// paneError adds advice for the model to an error about a pane. If the pane is missing, the advice is instead.
func (t *Shell) paneError(err error, instead string) error {
	switch {
	case t.noPanes.Load():
		return errNoPanes
	case errors.Is(err, tmux.ErrNoPane):
		return tools.Invalid("pane: %v%s", err, instead)
	case errors.Is(err, tmux.ErrUnavailable):
		return fmt.Errorf("there are no panes here: %w", err)
	}
	return err
}

// insteadOfPane tells the model what to do instead of naming a missing pane.
const insteadOfPane = "; leave it out for the shared one, or make one with tmux_create_pane"

type captureArgs struct {
	Pane    string `json:"pane,omitempty" desc:"such as %3; the shared one if left out"`
	Start   string `json:"start,omitempty" desc:"first line: 0 is the top of the screen, -50 is 50 lines above, - the beginning of the history"`
	End     string `json:"end,omitempty" desc:"last line, counted the same way"`
	Join    *bool  `json:"join,omitempty" desc:"wrapped lines become one; default true"`
	Escapes bool   `json:"escapes,omitempty" desc:"keep colours"`
	Octal   bool   `json:"octal,omitempty" desc:"write escape sequences and other controls as \\ooo"`
	Spaces  bool   `json:"trailing,omitempty" desc:"keep spaces at the ends of lines"`
	Other   bool   `json:"alternate,omitempty" desc:"the screen behind the full-screen program"`
	Delay   string `json:"delay,omitempty" desc:"wait first, such as 500ms; at most 30s"`
	Why     string `json:"why,omitempty" schema:"-"`
}

// delay returns the delay before the capture.
func (a captureArgs) delay() (time.Duration, error) { return delayOf(a.Delay) }

func delayOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := tools.ParseDuration(text)
	if err == nil && d > paneDelay {
		err = fmt.Errorf("%q is more than %s", text, paneDelay)
	}
	if err != nil {
		return 0, tools.Invalid("delay: %v", err)
	}
	return d, nil
}

// captureKey identifies a capture: a pane and the options.
type captureKey struct {
	pane string
	view tmux.View
}

// captured holds the last result of a capture.
type captured struct {
	text    string
	touched int64 // value of Shell.touched at the time of the capture
}

type capturePane struct {
	shell *Shell
	tools.Typed[captureArgs]

	mu   sync.Mutex // guards seen
	seen map[captureKey]captured
}

func (*capturePane) Parallel(tools.Call) bool { return true }

func (t *capturePane) PlanArgs(args captureArgs) (action.Action, error) {
	if _, err := args.delay(); err != nil {
		return action.Action{}, err
	}
	act := tools.PlanInternal(t.Name(), args.Why)
	act.Target = t.shell.target
	return act, nil
}

func (t *capturePane) RunArgs(ctx context.Context, _ tools.Call, args captureArgs) tools.Result {
	delay, err := args.delay()
	if err != nil {
		return tools.Failure(err)
	}
	if err := pause(ctx, delay); err != nil {
		return tools.Failure(err)
	}
	touched := t.shell.touched.Load()
	view := tmux.View{
		Start: args.Start, End: args.End, Join: args.Join == nil || *args.Join, Escapes: args.Escapes || args.Octal,
		Octal: args.Octal, Spaces: args.Spaces, Other: args.Other,
	}
	note, other := "", ""
	pane, text, err := t.shell.panes.Capture(ctx, t.shell.paneID(args.Pane), view)
	if errors.Is(err, tmux.ErrNoPane) {
		note = err.Error() + "; this is the shared pane"
		pane, text, err = t.shell.panes.Capture(ctx, "", view)
	}
	if errors.Is(err, tmux.ErrNoOther) {
		other = "there is no alternate screen; this is the visible one"
		view.Other = false
		pane, text, err = t.shell.panes.Capture(ctx, pane.ID, view)
	}
	if err != nil {
		return tools.Failure(t.shell.paneError(err, insteadOfPane))
	}
	where := fmt.Sprintf("pane %s, %s", t.shell.ref(pane.ID), pane.Title)
	if pane.Program != "" {
		where += ", runs " + pane.Program
	}
	if t.unchanged(captureKey{pane.ID, view}, captured{text, touched}) {
		return tools.Success("", where, note, other, "nothing changed since you last looked")
	}
	return tools.Success(cutStart(text, t.shell.limits.Screen, 0), where, note, other)
}

// pause waits for the duration d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unchanged reports whether the same capture had the same result the last time, and records the new result.
func (t *capturePane) unchanged(at captureKey, now captured) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, ok := t.seen[at]
	if len(t.seen) > 100 {
		clear(t.seen)
	}
	t.seen[at] = now
	return ok && before == now
}

type sendKeysArgs struct {
	Pane     string   `json:"pane,omitempty" desc:"such as %3; the shared one if left out"`
	Text     string   `json:"literal_text,omitempty" desc:"typed as it is, first"`
	Keys     []string `json:"keys,omitempty" desc:"then pressed: C-c, Up, Escape, F5, …" max:"50"`
	Enter    bool     `json:"enter,omitempty" desc:"and Enter last"`
	Delay    string   `json:"delay,omitempty" desc:"wait first, such as 500ms; at most 30s"`
	Why      string   `json:"why,omitempty"`
	Risk     string   `json:"risk,omitempty" schema:"-"`
	Mutation bool     `json:"mutation,omitempty" schema:"-"`
	Privesc  bool     `json:"privesc,omitempty" schema:"-"`
}

// pressed returns the keys, including Enter.
func (a sendKeysArgs) pressed() []string {
	if a.Enter {
		return append(slices.Clip(a.Keys), "Enter")
	}
	return a.Keys
}

// typed returns the text that the call types into the pane, including text given as keys.
func (a sendKeysArgs) typed() string {
	text := a.Text
	for _, k := range a.pressed() {
		switch {
		case len(k) == 1:
			text += k
		case k == "Space":
			text += " "
		case k == "Enter" && strings.TrimSpace(text) != "":
			text += "\n"
		}
	}
	return text
}

// check returns an error about invalid arguments.
func (a sendKeysArgs) check() error {
	if a.Text == "" && len(a.pressed()) == 0 {
		return tools.Invalid("literal_text, keys or enter: one of them is needed")
	}
	if len(a.Text) > tmux.TypeMax {
		return tools.Invalid("literal_text: %d bytes, at most %d", len(a.Text), tmux.TypeMax)
	}
	for _, k := range a.Keys {
		if err := tmux.CheckKey(k); err != nil {
			return tools.Invalid("keys: %v", err)
		}
	}
	_, err := delayOf(a.Delay)
	return err
}

type sendKeys struct {
	shell *Shell
	tools.Typed[sendKeysArgs]
}

func (t *sendKeys) PlanArgs(args sendKeysArgs) (action.Action, error) {
	if err := args.check(); err != nil {
		return action.Action{}, err
	}
	return action.Action{
		Kind: action.PaneKeys, Tool: t.Name(), Target: t.shell.target, Command: strings.TrimSuffix(args.typed(), "\n"),
		Preview: fmt.Sprintf("into pane %s: %q, keys: %s", cmp.Or(args.Pane, "shared"), args.Text, cmp.Or(strings.Join(args.pressed(), " "), "none")),
		Why:     args.Why, Risk: riskOf(args.Risk), Mutation: args.Mutation, Privesc: args.Privesc,
	}, nil
}

func (t *sendKeys) RunArgs(ctx context.Context, _ tools.Call, args sendKeysArgs) tools.Result {
	if err := args.check(); err != nil {
		return tools.Failure(err)
	}
	delay, _ := delayOf(args.Delay) // checked already
	if err := pause(ctx, delay); err != nil {
		return tools.Failure(err)
	}
	t.shell.touched.Add(1)
	pane, err := t.shell.panes.Keys(ctx, t.shell.paneID(args.Pane), args.Text, args.pressed())
	if err != nil {
		return tools.Failure(t.shell.paneError(err, insteadOfPane))
	}
	return tools.Success(fmt.Sprintf("typed into pane %s, %s, of session %s", t.shell.ref(pane.ID), pane.Title, t.shell.panes.Name()), "capture-pane shows the effect")
}

type createPaneArgs struct {
	Title    string `json:"title" desc:"a few words"`
	Command  string `json:"command,omitempty" desc:"program text for the shell; a shell to type into if left out"`
	Why      string `json:"why,omitempty"`
	Risk     string `json:"risk,omitempty" schema:"-"`
	Mutation bool   `json:"mutation,omitempty" schema:"-"`
	Privesc  bool   `json:"privesc,omitempty" schema:"-"`
}

// openShell is the command of a pane that was created without one.
const openShell = `exec "${SHELL:-sh}" -i`

type createPane struct {
	shell *Shell
	tools.Typed[createPaneArgs]
}

func (t *createPane) PlanArgs(args createPaneArgs) (action.Action, error) {
	if strings.ContainsRune(args.Command, 0) {
		return action.Action{}, tools.Invalid("command: has a NUL byte, which no shell can run")
	}
	return action.Action{
		Kind: action.Shell, Tool: t.Name(), Target: t.shell.target, Command: cmp.Or(args.Command, openShell), Cwd: t.shell.Cwd(),
		Preview: fmt.Sprintf("in a new pane %q", args.Title),
		Why:     args.Why, Risk: riskOf(args.Risk), Mutation: args.Mutation, Privesc: args.Privesc,
		Outside: true, // the sandbox has no terminal
	}, nil
}

func (t *createPane) RunArgs(ctx context.Context, call tools.Call, args createPaneArgs) tools.Result {
	t.shell.touched.Add(1)
	out := newOutputTail(nil, t.shell.limits.Output)
	run, err := t.shell.startPane(ctx, tmux.Spec{
		Dir: call.Dir, Own: true, Title: args.Title, Output: out.write, Free: call.Free,
		Mode: tmux.Terminal, Command: cmp.Or(args.Command, openShell),
	})
	if err != nil {
		return notStarted("the pane was not created", err)
	}
	job := &shellJob{shell: t.shell, pane: t.shell.ref(run.Pane()).String(), title: args.Title, dir: call.Dir, run: run, out: out, since: time.Now()}
	t.shell.jobs.begin(call, job)
	return tools.Success(fmt.Sprintf("pane %s, task %d", job.pane, job.id), "send-keys types into it, capture-pane shows it; it closes when its program ends")
}

type killPaneArgs struct {
	Pane string `json:"pane" desc:"such as %3"`
	Why  string `json:"why,omitempty" schema:"-"`
}

type killPane struct {
	shell *Shell
	tools.Typed[killPaneArgs]
}

// PlanArgs returns an action for which few policies ask, because the tool can only close panes that buddy opened with
// approval.
func (t *killPane) PlanArgs(args killPaneArgs) (action.Action, error) {
	act := t.shell.planManaged(t.Name(), args.Why)
	act.Op = "close pane " + texts.ClipBytes(args.Pane, 40)
	return act, nil
}

func (t *killPane) RunArgs(ctx context.Context, _ tools.Call, args killPaneArgs) tools.Result {
	t.shell.touched.Add(1)
	if err := t.shell.panes.Kill(ctx, t.shell.paneID(args.Pane)); err != nil {
		return tools.Failure(t.shell.paneError(err, ""))
	}
	return tools.Success("closed " + args.Pane)
}

// planManaged returns the plan of a tool that opens or ends panes and commands of buddy
// itself.
func (t *Shell) planManaged(tool, why string) action.Action {
	act := tools.PlanInternal(tool, why)
	act.Target, act.Mutation = t.target, true
	return act
}
