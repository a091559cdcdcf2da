package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/agent/prompt"
	"buddy/app/slash"
	"buddy/tmux"
	"buddy/tools"
	"buddy/tools/shell"
	"buddy/tools/target"
)

// openTargets opens the target where the session begins, and makes the set that opens the others
// when they are needed.
func (p *program) openTargets(f *flags, d *destination, env target.Environment) error {
	others, err := d.beside(f, p.config, p.index)
	if err != nil {
		return err
	}
	name := p.id
	if f.tmux != "" {
		name = f.tmux
	}
	_, p.withheld = p.config.Environ(os.Environ())
	first, err := p.open(d.Target, env, name, p.journal.resumed() || f.tmux != "")
	if err != nil {
		return err
	}
	p.targets = target.NewSet(first, others, p.openOther)
	return nil
}

// openOther reaches for a target and makes what the session has there.
func (p *program) openOther(t *target.Target) (*target.Session, error) {
	env, err := t.Look(t.Cwd)
	if away := t.Away; away != nil && err == nil {
		t.Away, err = nil, away
	}
	if err != nil {
		return nil, err
	}
	return p.open(t, env, p.id+"-"+t.Name, p.journal.resumed())
}

// open makes what the session has on a target. Nothing starts there. The set of targets is not
// there yet when the first is opened. resumed says that others may have used the tmux session.
func (p *program) open(t *target.Target, env target.Environment, session string, resumed bool) (*target.Session, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, exit{code: exitFailed, text: fmt.Sprintf("own program file: %v", err)}
	}
	prefix := ""
	if p.targets != nil {
		prefix = p.targets.Prefix(t)
	}
	o := target.Options{Outputs: p.store.OutDir(p.id), Resumed: resumed}
	o.Env, _ = p.config.Environ(os.Environ())
	o.Reach.Withheld = p.withheld
	o.Socket, o.Session, o.Exe, o.Shell = os.Getenv("BUDDY_TMUX_SOCKET"), session, exe, p.config.Tools.ShellName()
	o.OnPane = func(e tmux.PaneEvent) { p.live.publish(paneEvent(e, prefix, t.Name)) }
	o.OnScreen = func(s tmux.Screen) { p.live.publish(paneScreen(s, prefix)) }
	if t.Host == nil {
		var notice string
		if o.Sandbox, notice = sandbox(p.config.Sandbox, append([]string{env.Dir}, env.Also...), o.Outputs); notice != "" {
			p.live.publish(event.Notice{Text: notice})
		}
	}
	o.Warn = func(text string) {
		if prefix != "" {
			text = prefix + ": " + text
		}
		p.live.publish(event.Warning{Text: text, Code: "no_tmux", NextStep: "install tmux 3.2 or newer to watch them and type into them"})
	}
	one, err := t.Open(env, o)
	return one, failed(err)
}

// closeTargets ends what the session has on all targets and says what stays behind.
func (p *program) closeTargets(ctx context.Context, said io.Writer) {
	p.targets.Close(ctx, func(text string) { _, _ = fmt.Fprintln(said, "buddy: "+plain(text)) })
}

// filesOn returns the files of a target, which is reached for if need be.
func (p *program) filesOn(_ context.Context, name string) (agent.Files, error) {
	one, err := p.targets.Open(name)
	if err != nil {
		return nil, err
	}
	return one.Files, nil
}

// managedPanes are the panes of all targets, as the runtime knows them.
type managedPanes struct{ *target.Set }

func (m managedPanes) Pane(name string) (agent.PaneSession, string, error) { return m.Set.Pane(name) }

// promptTargets tells the model which targets there are; nothing, if there is one only.
func promptTargets(set *target.Set) []prompt.Target {
	if len(set.Targets()) == 1 {
		return nil
	}
	var all []prompt.Target
	for _, t := range set.Targets() {
		doc := t.Doc
		if t.Host == nil {
			doc = "the machine of the person"
		}
		all = append(all, prompt.Target{Name: t.Name, Doc: doc})
	}
	return all
}

// describe says where commands run, whether that can be reached now, and how to watch.
func (p *program) describe() string {
	all := p.targets.Targets()
	texts := make([]string, len(all))
	shell.SideBySide(p.targets.Names(), func(i int, _ string) {
		texts[i] = describeTarget(p.targets, all[i])
	})
	text := strings.Join(texts, "\n\n")
	if len(all) > 1 {
		text += "\n\n/target NAME makes another the one for calls that name none"
	}
	return text
}

func describeTarget(set *target.Set, t *target.Target) string {
	var b strings.Builder
	name := slash.PlaceName(t.Name)
	if t.Name == set.Current() && len(set.Targets()) > 1 {
		name += " (current)"
	}
	fmt.Fprintf(&b, "target     %s", name)
	if t.Address != "" {
		kind, address := t.Kind()
		fmt.Fprintf(&b, "\nwhere      %s %s", kind, address)
	}
	one := set.Session(t.Name)
	if one == nil {
		if err := set.Failure(t.Name); err != nil {
			fmt.Fprintf(&b, "\nstate      could not be reached; the next call tries again: %v", err)
			return b.String()
		}
		b.WriteString("\nstate      not used yet; the first call connects")
		return b.String()
	}
	if t.Host != nil {
		fmt.Fprintf(&b, "\nstate      %s", stateOf(t))
	}
	dir := one.Env.Dir
	if dir == "" {
		dir = "the home folder"
	}
	fmt.Fprintf(&b, "\nfolder     %s", dir)
	switch line := one.Panes.AttachLine(); {
	case one.Panes.Pane() == "":
		b.WriteString("\npane       none yet; the first command opens one")
	case line != "":
		fmt.Fprintf(&b, "\nattach     %s", line)
	}
	return b.String()
}

// stateOf asks a target for a sign of life.
func stateOf(t *target.Target) string {
	took, err := t.Ping()
	if err != nil {
		return "cannot be reached: " + err.Error()
	}
	return "connected, answers in " + milliseconds(took)
}

// paneEvent is what happens to a pane of a target, whose name is in front of the pane's
// unless it is the first.
func paneEvent(e tmux.PaneEvent, prefix, target string) event.Event {
	name := tools.PaneRef{Target: prefix, ID: e.Pane}.String()
	switch e.Kind {
	case tmux.Opened:
		return event.PaneOpened{Pane: name, Title: e.Title, Target: target, Attach: e.Attach}
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
