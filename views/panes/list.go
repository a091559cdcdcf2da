package panes

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
)

// paneList holds the panes of a session and which of them is selected.
type paneList struct {
	panes []paneView
	shown string // id of the selected pane
}

// paneView holds a pane with how the last command in it went.
type paneView struct {
	state.Pane
	mark mark
}

// mark holds how a command goes or went.
type mark struct {
	sign string
	word string
	role themes.Role
}

// markOf returns how the command goes that belongs to a pane: the task of which it is the
// own, or the last one that began in the shared pane of a target.
func markOf(s *state.State, q *state.Pane) mark {
	for _, t := range slices.Backward(s.Tasks) {
		if t.Pane != q.Pane {
			continue
		}
		if t.State != state.TaskDone {
			return runs
		}
		if t.Outcome == event.Completed {
			return exited(0)
		}
		if code, ok := strings.CutPrefix(t.Error, "exit code "); ok {
			return mark{"✗", "exit " + draw.OneLine(code), themes.ToolError}
		}
		_, _, word := draw.TaskOutcome(t)
		return mark{"✗", draw.OneLine(word), themes.ToolError}
	}
	c := s.Ran(q.Target)
	switch {
	case c == nil || q.Title != sharedTitle:
	case c.State == state.CallRunning:
		return runs
	case c.ExitCode != nil:
		return exited(*c.ExitCode)
	}
	return mark{}
}

// sharedTitle is the title of the pane for the commands that have none of their own.
const sharedTitle = "shared"

var runs = mark{"●", "running", themes.Running}

func exited(code int) mark {
	if code == 0 {
		return mark{"✔", "exit 0", themes.ToolOK}
	}
	return mark{"✗", fmt.Sprintf("exit %d", code), themes.ToolError}
}

// index returns the number of the selected pane, -1 if there is none.
func (l *paneList) index() int {
	return slices.IndexFunc(l.panes, func(q paneView) bool { return q.Pane.Pane == l.shown })
}

// selected returns the selected pane, nil if there is none.
func (l *paneList) selected() *paneView {
	if i := l.index(); i >= 0 {
		return &l.panes[i]
	}
	return nil
}

// automatic returns the pane in which a command began last, else the one opened last that is
// not lost, else the last one.
func (l *paneList) automatic(began string) string {
	last := ""
	for _, q := range slices.Backward(l.panes) {
		switch {
		case q.Lost == "" && q.Pane.Pane == began:
			return began
		case last == "" && q.Lost == "":
			last = q.Pane.Pane
		}
	}
	if n := len(l.panes); last == "" && n > 0 {
		last = l.panes[n-1].Pane.Pane
	}
	return last
}

// name returns a pane's title with where it is, if that is elsewhere or there are several such
// places.
func (l *paneList) name(q *paneView) string {
	name := draw.OneLine(q.Title)
	several := func(o paneView) bool { return o.Target != l.panes[0].Target }
	if q.Target != "" && (q.Target != "local" || slices.ContainsFunc(l.panes, several)) {
		name = q.Target + ":" + name
	}
	return name
}

// title returns the names of the panes in at most w cells. ▸ marks the one that shows; when
// not all fit, it alone is named.
func (l *paneList) title(w int) []draw.Span {
	head := []draw.Span{draw.Text(themes.Strong, "Panes")}
	all := slices.Clone(head)
	short := head
	for i := range l.panes {
		q := &l.panes[i]
		sep := " ─ "
		if i == 0 {
			sep = " · "
		}
		name := l.tag(q, false, w-16, nameWidth)
		if q.Pane.Pane == l.shown {
			short = append(slices.Clone(head), draw.Text(themes.Border, fmt.Sprintf(" · %d/%d ", i+1, len(l.panes))))
			short = append(short, name...)
		}
		all = append(append(all, draw.Text(themes.Border, sep)), name...)
	}
	if draw.Width(all) > w {
		return short
	}
	return all
}

// tag returns the name of a pane and how its command goes. Of several panes the selected one
// is marked, and names are cut for all to fit in w cells, or to most.
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

// sign returns how the command of the pane goes, to be shown after its name.
func (q *paneView) sign(words bool) []draw.Span {
	m := q.mark
	switch {
	case q.Lost != "":
		m = mark{"✗", "lost", themes.Warning}
	case m.sign == "":
		return nil
	}
	text := " " + m.sign
	if words {
		text += " " + m.word
	}
	return draw.Untrusted(m.role, text)
}
