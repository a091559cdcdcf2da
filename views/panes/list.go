package panes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
)

// paneList holds the panes of a session and the selected one.
type paneList struct {
	panes []paneView
	shown string // id of the selected pane
}

// paneView is a pane with the command that runs in it, or ran last. A call without a pane has a paneView of its own.
type paneView struct {
	state.Pane
	run run
}

// bare reports whether q represents a call without a pane.
func (q *paneView) bare() bool { return q.Pane.Pane == state.BarePane }

// run is a command with its state.
type run struct {
	mark
	call           *state.Call // the call that started the command; nil if unknown
	task           *state.Task // the task that owns the pane
	started, ended int64       // Unix milliseconds; 0: not yet
}

// elapsed returns the running time, so far or in total; "" if nothing has started.
func (r *run) elapsed(now int64) string {
	if r.started == 0 {
		return ""
	}
	return draw.Clock(cmp.Or(r.ended, now) - r.started)
}

// mark is the state of a command for display.
type mark struct {
	sign string
	word string
	role themes.Role
}

// runIn returns the run of a pane: the task that owns it, or the last command that started in the shared pane of a
// target.
func runIn(s *state.State, q *state.Pane) run {
	for _, t := range slices.Backward(s.Tasks) {
		if t.Pane == q.Pane {
			return run{mark: taskMark(t), task: t, started: t.Started, ended: t.Ended}
		}
	}
	switch c := s.Ran(q.Target); {
	case q.Title != sharedTitle:
	case runsOn(s.Bare, q):
		return targetRun(s.Bare, q.Target)
	case c != nil:
		return runOf(c)
	}
	return run{}
}

// taskMark returns the state of a task's command.
func taskMark(t *state.Task) mark {
	if t.State != state.TaskDone {
		return stays
	}
	if t.Outcome == event.Completed {
		return exited(0)
	}
	if code, ok := strings.CutPrefix(t.Error, "exit code "); ok {
		return mark{"✗", "exit " + texts.OneLine(code), themes.ToolError}
	}
	_, _, word := draw.TaskOutcome(t)
	return mark{"✗", texts.OneLine(word), themes.ToolError}
}

// runOf returns the run of a call.
func runOf(c *state.Call) run {
	r := run{call: c, started: c.Started}
	if c.State == state.CallRunning {
		r.mark = runs
		return r
	}
	r.ended = c.Started + c.Duration
	switch {
	case c.ExitCode != nil:
		r.mark = exited(*c.ExitCode)
	case c.State == state.CallFailed:
		r.mark = mark{"✗", "failed", themes.ToolError}
	case c.State == state.CallDone:
		r.mark = mark{"✔", "done", themes.ToolOK}
	}
	return r
}

// runsOn reports whether a command on several targets runs, or ran, in a pane.
func runsOn(c *state.Call, q *state.Pane) bool {
	return c != nil && q.Title == sharedTitle && slices.ContainsFunc(c.Action.Targets, func(t action.TargetCwd) bool { return t.Target == q.Target })
}

// targetRun returns the run, on one target, of a command on several targets.
func targetRun(c *state.Call, target string) run {
	r := runOf(c)
	if r.ended != 0 {
		r.mark = mark{}
		if code, ok := c.Exits[target]; ok {
			r.mark = exited(code)
		}
	}
	return r
}

// elapsed returns the running time of the pane's command, so far or in total; "" if there is none.
func (q *paneView) elapsed(now time.Time) string {
	if q == nil {
		return ""
	}
	return q.run.elapsed(now.UnixMilli())
}

// sharedTitle is the title of the pane for commands without their own pane.
const sharedTitle = "shared"

var (
	runs  = mark{"◐", "running", themes.Running} // a call waits for the command
	stays = mark{"●", "in the background", themes.Running}
)

func exited(code int) mark {
	if code == 0 {
		return mark{"✔", "exit 0", themes.ToolOK}
	}
	return mark{"✗", fmt.Sprintf("exit %d", code), themes.ToolError}
}

// index returns the index of the selected pane, or -1.
func (l *paneList) index() int {
	return slices.IndexFunc(l.panes, func(q paneView) bool { return q.Pane.Pane == l.shown })
}

// selected returns the selected pane, or nil.
func (l *paneList) selected() *paneView { return l.get(l.shown) }

// get returns the pane with an id, or nil.
func (l *paneList) get(id string) *paneView {
	if i := slices.IndexFunc(l.panes, func(q paneView) bool { return q.Pane.Pane == id }); i >= 0 {
		return &l.panes[i]
	}
	return nil
}

// best returns n panes in the order of the list. It prefers the selected pane, then live panes, then panes in which a
// command started later.
func (l *paneList) best(n int) []*paneView {
	all := make([]*paneView, len(l.panes))
	for i := range l.panes {
		all[i] = &l.panes[i]
	}
	rank := func(q *paneView) int {
		switch {
		case q.Pane.Pane == l.shown:
			return 2
		case q.live():
			return 1
		}
		return 0
	}
	byRank := slices.Clone(all)
	slices.Reverse(byRank) // the newer one of two equal panes is preferred
	slices.SortStableFunc(byRank, func(a, b *paneView) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(b.run.started, a.run.started))
	})
	byRank = byRank[:min(n, len(byRank))]
	return slices.DeleteFunc(all, func(q *paneView) bool { return !slices.Contains(byRank, q) })
}

// automatic returns the id of the pane to show by default: the pane in which a command started last. If that command
// has ended, the newest live pane is preferred. If the pane is gone, automatic returns the last opened pane that is not
// lost, or else the last opened one.
func (l *paneList) automatic(began string) string {
	if q := l.newest(func(q *paneView) bool { return q.Pane.Pane == began && q.Lost == "" }); q != nil {
		if q.run.ended != 0 {
			q = cmp.Or(l.newest((*paneView).live), q)
		}
		return q.Pane.Pane
	}
	q := l.newest(func(q *paneView) bool { return q.Lost == "" && !q.bare() })
	if q = cmp.Or(q, l.newest(func(*paneView) bool { return true })); q == nil {
		return ""
	}
	return q.Pane.Pane
}

// newest returns the last pane that satisfies a condition, or nil.
func (l *paneList) newest(is func(*paneView) bool) *paneView {
	for i := range slices.Backward(l.panes) {
		if is(&l.panes[i]) {
			return &l.panes[i]
		}
	}
	return nil
}

// live reports whether a command runs in the pane, or may run there because the pane is no shared shell.
func (q *paneView) live() bool {
	return q.Lost == "" && (q.run.mark == runs || q.run.mark == stays || q.run.started == 0 && q.Title != sharedTitle)
}

// name returns a pane's title, with its target if that is not this machine. The shared pane is called shell, or has the
// name of its target.
func (l *paneList) name(q *paneView) string {
	switch {
	case q.Title == sharedTitle && (q.Target == "" || q.Target == "local"):
		return "shell"
	case q.Title == sharedTitle:
		return q.Target
	case q.Target == "" || q.Target == "local" || q.bare():
		return texts.OneLine(q.Title)
	}
	return q.Target + ":" + texts.OneLine(q.Title)
}

// title returns the names of the panes in at most w cells. ▸ marks the visible pane; if not all names fit, only that
// pane is named, with its number.
func (l *paneList) title(w int) []draw.Span {
	var all, short []draw.Span
	for i := range l.panes {
		q := &l.panes[i]
		name := l.tag(q, false, w-8, nameWidth)
		if q.Pane.Pane == l.shown {
			short = append([]draw.Span{draw.Text(themes.Border, fmt.Sprintf("%d/%d ", i+1, len(l.panes)))}, name...)
		}
		if i > 0 {
			all = append(all, draw.Text(themes.Border, " ─ "))
		}
		all = append(all, name...)
	}
	if draw.Width(all) > w {
		return short
	}
	return all
}

// tag returns the name of a pane and the state of its command. If there are several panes, the selected one is marked,
// and a name is cut to most cells, or to fewer so that name and state fit into w cells.
func (l *paneList) tag(q *paneView, words bool, w, most int) []draw.Span {
	role, sign := themes.Muted, q.sign(words)
	if q.Pane.Pane == l.shown {
		role = themes.Accent
	}
	label := draw.Untrusted(role, l.name(q))
	if len(l.panes) > 1 {
		label = draw.Clip(label, min(most, max(w-draw.Width(sign), 8)))
		if q.Pane.Pane == l.shown {
			label = append([]draw.Span{draw.Text(role, "▸")}, label...)
		}
	}
	return append(label, sign...)
}

// sign returns the sign of the state of the pane's command, drawn after the name.
func (q *paneView) sign(words bool) []draw.Span {
	m := q.shows()
	if m.sign == "" {
		return nil
	}
	text := " " + m.sign
	if words {
		text += " " + m.word
	}
	return draw.Untrusted(m.role, text)
}

// shows returns the mark of the pane's command, or the mark of a closed pane.
func (q *paneView) shows() mark {
	if q.Lost != "" {
		return mark{"✗", "closed", themes.Warning}
	}
	return q.run.mark
}
