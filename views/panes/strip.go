package panes

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Strip is one line in the place of the panes and the tasks where there is no room for them: what runs or
// ran in the selected pane, else the newest task that is no prompt.
type Strip struct {
	draw.Frame
	of     *Panes
	others []state.Task // copies; that run besides the main one
	now    func() time.Time

	OnOpen func() // the person wants to see what it stands for
}

// NewStrip returns the line for a view of panes. now tells the time.
func NewStrip(theme *themes.Theme, keys *keymap.Map, of *Panes, now func() time.Time) *Strip {
	return &Strip{Frame: draw.NewFrame(theme, keys), of: of, now: now}
}

// Update takes over what changed.
func (l *Strip) Update(s *state.State, ch state.Changed) {
	if ch&state.Tasks == 0 {
		return
	}
	l.others = l.others[:0]
	for _, t := range s.Tasks {
		if t.Kind != event.MainTask && t.State != state.TaskDone {
			l.others = append(l.others, *t)
		}
	}
}

// Draw draws what fits: how it goes and its time before what it is.
func (l *Strip) Draw(screen tcell.Screen) {
	c := l.Whole(screen).Cleared()
	left, right := l.parts(c.W)
	if key := l.Keys.Name(keymap.NextPane); key != "" && draw.Width(left)+draw.Width(right)+len(key)+10 < c.W {
		right = append(right, draw.Text(themes.Key, "   "+key), draw.Text(themes.Muted, " opens"))
	}
	n := draw.Width(right)
	if n+12 > c.W {
		n, right = 0, nil
	}
	c.Spans(0, draw.Clip(left, c.W-n-2)...)
	c.Cols(c.W-n, c.W).Spans(0, right...)
}

// parts returns what is said at the left and at the right, of w cells.
func (l *Strip) parts(w int) (left, right []draw.Span) {
	now := l.now()
	q := l.of.list.selected()
	others := l.elsewhere(q)
	if len(others) > 0 && (q == nil || q.run.ended != 0) {
		t := &others[len(others)-1]
		sign, role, _ := draw.TaskState(t, now)
		left = []draw.Span{draw.Text(role, sign+" ")}
		name := t.Label()
		if name == "" {
			name = string(t.Kind)
		}
		left = append(append(left, draw.Untrusted(themes.Accent, name)...), draw.Text(themes.Text, "  "))
		return append(left, draw.Untrusted(themes.Text, texts.OneLine(t.Title))...), l.time(t.Started, now, len(others)-1)
	}
	if q == nil {
		return nil, nil
	}
	if m := q.shows(); m.sign != "" {
		left = []draw.Span{draw.Text(m.role, m.sign+" ")}
	}
	left = append(left, l.doing(q, w)...)
	if q.run.ended != 0 && q.run.word != "" {
		right = append(draw.Untrusted(q.run.role, q.run.word), draw.Text(themes.Text, "  "))
	}
	if n := len(others); n > 0 {
		right = append(right, draw.Text(themes.Muted, "+"+texts.Plural(n, "task")+"  "))
	}
	right = append(right, draw.Text(themes.Muted, q.took(now)))
	if t := q.run.task; t != nil && t.State == state.TaskRunning {
		right = append(right, draw.Text(themes.Muted, fmt.Sprintf("   /kill %d stops it", t.ID)))
	}
	return left, right
}

// elsewhere returns the tasks that don't run in a pane, such as the one that the line shows.
func (l *Strip) elsewhere(q *paneView) []state.Task {
	if q == nil {
		return l.others
	}
	return slices.DeleteFunc(slices.Clone(l.others), func(t state.Task) bool { return t.Pane == q.Pane.Pane })
}

// doing names a pane and what runs or ran in it, once if that is its name, and what it printed last.
func (l *Strip) doing(q *paneView, w int) []draw.Span {
	name, what := l.of.list.name(q), q.run.what()
	if begin := strings.TrimSuffix(name, "…"); what != "" && strings.HasPrefix(what, begin) {
		return draw.Untrusted(themes.Accent, what)
	}
	all := append(draw.Untrusted(themes.Accent, name), draw.Text(themes.Text, "  "))
	command, said := draw.Untrusted(themes.Text, what), ""
	if q.run.ended == 0 {
		said = lastLine(q.run.call)
	}
	if said == "" {
		return append(all, command...)
	}
	all = append(all, draw.Clip(command, max(w/3, 12))...)
	return append(append(all, draw.Text(themes.Muted, " › ")), draw.Untrusted(themes.Muted, said)...)
}

// lastBytes limits what of an output is looked at for its last line.
const lastBytes = 1 << 10

// lastLine returns the last line that a call printed, as a terminal shows it, "" for none: where panes have
// no room, it is all that is seen of them.
func lastLine(c *state.Call) string {
	if c == nil || c.Terminal {
		return ""
	}
	out := c.Output.Buf
	if from := len(out) - lastBytes; from > 0 {
		out = out[from:]
		out = out[bytes.IndexByte(out, '\n')+1:] // not from within an escape sequence
	}
	w := markup.Writer{Terminal: true}
	w.Write(out)
	text := strings.TrimSpace(string(w.Text.Bytes))
	return texts.OneLine(text[strings.LastIndexByte(text, '\n')+1:])
}

// time says how long a task runs, and how many others do.
func (l *Strip) time(started int64, now time.Time, others int) []draw.Span {
	text := draw.Clock(now.UnixMilli() - started)
	if started == 0 {
		text = ""
	}
	if others > 0 {
		text = "+" + texts.Plural(others, "task") + "  " + text
	}
	return []draw.Span{draw.Text(themes.Muted, text)}
}

// MouseHandler opens what the line stands for.
func (l *Strip) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return l.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		if action != tview.MouseLeftClick || !l.InRect(ev.Position()) {
			return false, nil
		}
		l.OnOpen()
		return true, nil
	})
}

// what says in one line what runs or ran.
func (r *run) what() string {
	switch {
	case r.task != nil:
		return texts.OneLine(r.task.Title)
	case r.call == nil:
		return ""
	}
	a := &r.call.Action
	for _, text := range []string{a.Command, a.URL, a.Op, a.Path} {
		if text != "" {
			return draw.FirstLine(text)
		}
	}
	return texts.OneLine(r.call.Name)
}
