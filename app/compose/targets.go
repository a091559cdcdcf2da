package compose

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/agent/prompt"
	"buddy/app/exit"
	"buddy/app/socket"
	"buddy/features/plan"
	"buddy/texts/searchpath"
	"buddy/tmux"
	"buddy/tools"
	"buddy/tools/file"
	"buddy/tools/shell"
	"buddy/tools/target"
	"buddy/views/markup"
)

// openTargets opens the first target, makes the set that opens the others on demand, and returns the policy for all of
// them.
func (p *Program) openTargets(f *Options) (judge policy.Policy, err error) {
	if err := p.Dest.needTmux(f, p.Env); err != nil {
		return judge, err
	}
	if p.Env.Also, err = p.Dest.folders(f.Also); err != nil {
		return judge, err
	}
	if p.Dest.Host == nil {
		searchpath.Avoid(slices.Concat([]string{p.Env.Dir}, p.Env.Also, p.Config.Sandbox.Write)...)
	}
	others, err := p.Dest.otherTargets(f, p.Config, p.Index)
	if err != nil {
		return judge, err
	}
	planned := string(plan.FileIn(p.dir()))
	p.plan = file.NewPlan(planned)
	_, p.withheld = p.Config.Environ(os.Environ())
	first, err := p.open(p.Dest.Target, p.Env, tmux.Options{Session: cmp.Or(f.Tmux, p.ID), Short: f.Tmux == ""}, p.Journal.resumed() || f.Tmux != "")
	if err != nil {
		return judge, err
	}
	p.Targets = target.NewSet(first, others, p.openOther)
	judge = policy.Policy{Workspace: first.Files.Root(), At: p.Targets.Facts, Plan: planned, Shell: p.Config.Tools.ShellName()}
	work := append([]string{p.Env.Dir}, p.Env.Also...)
	if here, err := os.Getwd(); err == nil && p.Dest.Host != nil { // a target of the session may have this folder, too
		work = []string{here}
	}
	judge.Unseen = FenceSettings(p.Config.Sandbox, work, nil).Place()
	judge.Rules, err = rulesOf(p.Config)
	return judge, err
}

// openOther connects to a target and opens it for the session.
func (p *Program) openOther(ctx context.Context, t *target.Target) (*target.Session, error) {
	p.Live.Publish(event.TargetConnecting{Target: t.Name})
	defer p.Live.Publish(event.TargetConnecting{Target: t.Name, Ended: true})
	env, err := t.Look(ctx, t.Cwd)
	if away := t.Away; away != nil && err == nil {
		t.Away, err = nil, away
	}
	if err != nil {
		return nil, err
	}
	return p.open(t, env, tmux.Options{Session: p.ID + "-" + t.Name, Short: true, Known: p.tmuxNames[t.Name]}, p.Journal.resumed())
}

// open opens a target for the session without starting anything there. When it opens the first target, p.Targets is
// still nil. named holds the name of the tmux session; resumed means that earlier processes may have used it.
func (p *Program) open(t *target.Target, env target.Environment, named tmux.Options, resumed bool) (*target.Session, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, exit.Error{Code: exit.Failed, Text: fmt.Sprintf("buddy can't find its own program file: %v", err)}
	}
	prefix := ""
	if p.Targets != nil {
		prefix = p.Targets.Prefix(t)
	}
	o := target.Options{
		Options: named, Outputs: p.Store.OutDir(p.ID), Plan: p.plan, Recovery: recoveryDir(), Resumed: resumed, Limits: shell.Limits{Output: p.Config.Tools.Output, Screen: p.Config.Tools.Screen},
	}
	o.Env, _ = p.Config.Environ(os.Environ())
	o.Own = p.own()
	o.Reach.Withheld, o.Reach.Hidden, o.Reach.Given = p.withheld, o.Own.Files, o.Own.Given
	o.Of = socket.Folders()
	o.Socket, o.Exe, o.Shell = os.Getenv("BUDDY_TMUX_SOCKET"), exe, p.Config.Tools.ShellName()
	o.Whole = int64(p.Config.Tools.Whole) << 20
	if p.options.Headless {
		o.Unattended = p.Config.Tools.UnattendedTimeout
	}
	o.OnPane = func(e tmux.PaneEvent) { p.Live.Publish(paneEvent(e, prefix, t.Name)) }
	o.OnScreen = func(s tmux.Screen) { p.Live.Publish(paneScreen(s, prefix)) }
	if t.Host == nil {
		o.Fence = FenceSettings(p.Config.Sandbox, append([]string{env.Dir}, env.Also...), o.Reach.Hidden)
		o.Fence.Asks = !p.options.Headless
		if t != p.Dest.Target {
			o.Unseen = o.Fence.Place()
		}
		if o.Boxed = p.Config.Sandbox.Mode == "workspace"; o.Boxed {
			if err := tmux.Fences(o.Options); err != nil {
				o.Boxed = false
				p.Live.Publish(event.Notice{Text: fmt.Sprintf("Commands that you approve run without the sandbox: %v", err)})
			}
		}
	}
	o.Warn = func(text string) {
		if prefix != "" {
			text = prefix + ": " + text
		}
		p.Live.Publish(event.Warning{Text: text, Code: "no_tmux", NextStep: "install tmux 3.2 or newer to watch them and type into them"})
	}
	one, err := t.Open(env, o)
	if err == nil && p.ID != "" {
		p.recoverFiles(one.Files, prefix)
	}
	return one, exit.Failure(err)
}

// closeTargets closes all targets of the session, and prints what keeps running there. It reports whether it printed
// anything.
func (p *Program) closeTargets(ctx context.Context, out io.Writer) (said bool) {
	p.Targets.Close(ctx, func(text string) {
		said = true
		_, _ = fmt.Fprintln(out, "buddy: "+markup.Plain(text))
	})
	return said
}

// filesOn returns the files of a target, which is opened if necessary.
func (p *Program) filesOn(ctx context.Context, name string) (agent.Files, error) {
	one, err := p.Targets.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return one.Files, nil
}

// managedPanes adapts the panes of all targets to the runtime.
type managedPanes struct{ *target.Set }

func (m managedPanes) Pane(name string) (agent.PaneSession, string, error) { return m.Set.Pane(name) }

// promptTargets returns the targets for the system prompt, none if there is only one.
func promptTargets(set *target.Set) []prompt.Target {
	if len(set.Targets()) == 1 {
		return nil
	}
	var all []prompt.Target
	for _, t := range set.Targets() {
		doc := t.Doc
		if t.Host == nil {
			doc = "the person's machine"
		}
		all = append(all, prompt.Target{Name: t.Name, Doc: doc})
	}
	return all
}

// paneEvent returns the event about a pane. The pane's name starts with prefix, which is "" for the first target.
func paneEvent(e tmux.PaneEvent, prefix, target string) event.Event {
	name := tools.PaneRef{Target: prefix, ID: e.Pane}.String()
	switch e.Kind {
	case tmux.Opened:
		return event.PaneOpened{Pane: name, Title: e.Title, Target: target, Attach: e.Attach, Session: e.Name}
	case tmux.Lost:
		return event.PaneLost{Pane: name, Why: e.Why}
	default:
		return event.PaneClosed{Pane: name}
	}
}

func paneScreen(s tmux.Screen, prefix string) event.Event {
	return event.PaneScreen{
		Pane: tools.PaneRef{Target: prefix, ID: s.Pane}.String(), W: s.W, H: s.H, Rows: s.Rows,
		Cursor: event.Cursor{X: s.CursorX, Y: s.CursorY, Visible: s.CursorVisible}, AppKeys: s.AppKeys,
	}
}
