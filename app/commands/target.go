package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/texts"
	"buddy/tmux/host"
	"buddy/tools/shell"
	"buddy/tools/target"
)

func init() {
	add(slash.Command{
		Name: "target", Args: "[NAME]", Brief: "work on another machine or container", Means: []string{"host", "ssh", "container", "docker", "remote"},
		Help: "switch to another target; without a name, choose from a list that shows which targets can be reached",
	}, onTargets)
}

// onTargets lists the targets, or switches to the named one. "ask" instead of a name checks whether the connected
// targets still answer.
func onTargets(_ context.Context, s *Session, args []string) (show.Answer, error) {
	if s.Program == nil {
		return show.Answer{}, feature.ErrNoSession
	}
	set := s.Program.Targets
	name := textOf(args)
	all := set.Targets()
	switch i := slices.IndexFunc(all, func(t *target.Target) bool { return t.Name == name }); {
	case i >= 0 && len(all) > 1 && name == set.Current():
		return show.Say(slash.PlaceName(name) + " is already the current target"), nil
	case i >= 0:
		s.Send(event.SwitchTarget{Name: name})
		return show.Answer{}, nil
	case len(all) == 1 && name == "":
		return show.Say(onlyTarget(set, all[0])), nil
	case name == "" || name == "ask":
		return show.Answer{List: targetList(set, name == "ask")}, nil
	}
	return show.Answer{}, fmt.Errorf("unknown target %q (have: %s)", name, texts.Join(all, ", ", func(t *target.Target) string { return t.Name }))
}

// targetList lists targets. With ask, it checks whether the connected targets still answer. It never connects to a
// target.
func targetList(set *target.Set, ask bool) *show.List {
	list := show.List{
		Title: "Targets", Columns: []string{"name", "state", "kind", "address", "folder", "attach"},
		Usage: "/target NAME switches to a target: calls that name no target run there.",
	}
	all := set.Targets()
	list.Rows = make([]show.Row, len(all))
	shell.SideBySide(set.Names(), func(i int, _ string) { list.Rows[i] = targetRow(set, all[i], ask) })
	if !ask && slices.ContainsFunc(list.Rows, func(r show.Row) bool { return r.Cells[1] == asking }) {
		list.Rest = []string{"target", "ask"}
	}
	return &list
}

// asking is the state of a target that has not answered yet.
const asking = "checking …"

// targetRow describes a target. That it is a production target is part of the name, which no width of the list hides.
func targetRow(set *target.Set, t *target.Target, ask bool) show.Row {
	name := t.Name
	if t.Production {
		name += " · production"
	}
	kind, address := t.Kind()
	state, why, folder, attach := stateOf(set, t, ask)
	r := show.Row{
		ID: t.Name, Cells: []string{name, state, kind, cmp.Or(address, "–"), folder, attach}, Mark: t.Name == set.Current(),
		Deeds: []show.Deed{{Label: "work on it", Run: []string{"target", t.Name}, Closes: true}},
	}
	if why != "" {
		r.Line = t.Name + ": " + why
	}
	return r
}

// stateOf returns a target's state, why it can't be reached ("" if it can), the folder where commands start, and the
// command line that attaches a terminal to its pane ("" if there is no pane).
func stateOf(set *target.Set, t *target.Target, ask bool) (state, why, folder, attach string) {
	one := set.Session(t.Name)
	if one == nil {
		if err := set.Failure(t.Name); err != nil {
			why = awayBecause(err)
			return "away: " + why, why, "", ""
		}
		return "not connected yet", "", "", ""
	}
	if one.Panes.Pane() != "" {
		attach = one.Panes.AttachLine()
	}
	switch {
	case t.Host == nil:
		return "connected", "", one.Env.Dir, attach
	case !ask:
		return asking, "", one.Env.Dir, attach
	}
	took, err := t.Ping()
	if err != nil {
		why = awayBecause(err)
		return "away: " + why, why, one.Env.Dir, attach
	}
	return "connected · " + milliseconds(took), "", one.Env.Dir, attach
}

// onlyTarget describes the target of a session with a single target: its state, and how to attach a terminal.
func onlyTarget(set *target.Set, t *target.Target) string {
	state, _, folder, attach := stateOf(set, t, true)
	text := "commands run on " + slash.PlaceName(t.Name) + ", the only target"
	if folder != "" {
		text += ", in " + folder
	}
	if t.Host != nil {
		text += " · " + state
	}
	if attach != "" {
		return text + " · attach: " + attach
	}
	return text + " · add others with [targets.NAME] in your settings"
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// awayBecause explains on one line why a target can't be reached. It omits the name, because the row shows it.
func awayBecause(err error) string {
	why := texts.OneLine(err.Error())
	if down, ok := errors.AsType[*host.DownError](err); ok {
		why = strings.TrimPrefix(why, down.Host+": ")
	}
	return why
}
