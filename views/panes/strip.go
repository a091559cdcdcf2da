package panes

import (
	"bytes"
	"cmp"
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

// Strip replaces the panes and tasks by one line where there is no room for them: the command in the selected pane, or
// else the newest task that is not visible elsewhere.
type Strip struct {
	draw.Frame
	of     *Panes
	others []state.Task // copies of running tasks other than prompts and the agents that they wait for
	ended  []state.Task // a copy of the last task that ended in the background
	now    func() time.Time

	OnOpen func() // opens the panes or tasks
}

// NewStrip returns the line for a view of panes. now is its clock.
func NewStrip(theme *themes.Theme, keys *keymap.Map, of *Panes, now func() time.Time) *Strip {
	return &Strip{Frame: draw.NewFrame(theme, keys), of: of, now: now}
}

// Update processes changes of the state.
func (l *Strip) Update(s *state.State, ch state.Changed) {
	if ch&state.Tasks == 0 {
		return
	}
	l.others, l.ended = l.others[:0], l.ended[:0]
	for _, t := range s.Tasks {
		switch {
		case t.Kind == event.MainTask, t.Agent != nil && !t.Agent.Background:
		case t.State != state.TaskDone:
			l.others = append(l.others, *t)
		case t.Kind != event.CompactionTask:
			l.ended = append(l.ended[:0], *t)
		}
	}
}

// Draw draws the line in the last row. A long name is cut before state and time.
func (l *Strip) Draw(screen tcell.Screen) {
	all := l.Whole(screen).Cleared()
	c := all.Down(all.H - 1)
	left, right := l.parts()
	if key := l.Keys.Name(keymap.NextPane); key != "" && draw.Width(right)+len(key)+30 < c.W {
		right = append(right, draw.Text(themes.Key, "   "+key), draw.Text(themes.Muted, " opens"))
	}
	n := draw.Width(right)
	if n+12 > c.W {
		n, right = 0, nil
	}
	c.Spans(0, draw.Clip(left, c.W-n-2)...)
	c.Cols(c.W-n, c.W).Spans(0, right...)
}

// parts returns the left and the right part.
func (l *Strip) parts() (left, right []draw.Span) {
	now := l.now()
	q := l.of.list.selected()
	others := l.elsewhere(q)
	if q == nil || !q.live() {
		if len(others) == 0 {
			others = l.ended
		}
		return l.task(others, now)
	}
	if m := q.run.mark; m.sign != "" {
		left = []draw.Span{draw.Text(m.role, m.sign+" ")}
	}
	left = append(left, l.doing(q)...)
	if n := len(others); n > 0 {
		right = append(right, draw.Text(themes.Muted, "+"+texts.Plural(n, "task")+"  "))
	}
	if q.run.mark != runs { // the conversation shows the time
		right = append(right, draw.Text(themes.Muted, q.elapsed(now)))
	}
	if t := q.run.task; t != nil && t.State == state.TaskRunning {
		right = append(right, draw.Text(themes.Muted, fmt.Sprintf("   /kill %d stops it", t.ID)))
	}
	return left, right
}

// task describes the last of some tasks.
func (l *Strip) task(all []state.Task, now time.Time) (left, right []draw.Span) {
	if len(all) == 0 {
		return nil, nil
	}
	t := &all[len(all)-1]
	sign, role, word := draw.TaskState(t, now)
	name := cmp.Or(t.Label(), string(t.Kind))
	left = append([]draw.Span{draw.Text(role, sign+" ")}, draw.Untrusted(themes.Accent, name)...)
	left = append(append(left, draw.Text(themes.Text, "  ")), draw.Untrusted(themes.Text, texts.OneLine(t.Title))...)
	if word != "" {
		right = append(draw.Untrusted(role, texts.OneLine(word)), draw.Text(themes.Text, "  "))
	}
	return left, append(right, l.time(t, now, len(all)-1)...)
}

// elsewhere returns the tasks outside pane q.
func (l *Strip) elsewhere(q *paneView) []state.Task {
	if q == nil {
		return l.others
	}
	return slices.DeleteFunc(slices.Clone(l.others), func(t state.Task) bool { return t.Pane == q.Pane.Pane })
}

// doing returns the pane's name and the command, or only the command if the name is its start. While a call waits for
// the command, which the conversation shows, the last line of output replaces the command.
func (l *Strip) doing(q *paneView) []draw.Span {
	name, what := l.of.list.name(q), q.run.what()
	if prefix := strings.TrimSuffix(name, "…"); q.run.mark != runs && what != "" && strings.HasPrefix(what, prefix) {
		return draw.Untrusted(themes.Accent, what)
	}
	all := append(draw.Untrusted(themes.Accent, name), draw.Text(themes.Text, "  "))
	if c := q.run.call; q.run.mark == runs && !c.Terminal {
		return append(all, draw.Untrusted(themes.Muted, cmp.Or(lastLine(c), "No output yet"))...)
	}
	return append(all, draw.Untrusted(themes.Text, what)...)
}

// lastBytes limits the output that is searched for its last line.
const lastBytes = 1 << 10

// lastLine returns the last line of a call's output as a terminal shows it, or "".
func lastLine(c *state.Call) string {
	out := c.Output.Buf
	if from := len(out) - lastBytes; from > 0 {
		out = out[from:]
		out = out[bytes.IndexByte(out, '\n')+1:] // not inside an escape sequence
	}
	w := markup.Writer{Terminal: true}
	w.Write(out)
	text := strings.TrimSpace(string(w.Text.Bytes))
	return texts.OneLine(text[strings.LastIndexByte(text, '\n')+1:])
}

// time returns the running time of a task, and the number of other tasks.
func (l *Strip) time(t *state.Task, now time.Time, others int) []draw.Span {
	text := draw.Clock(cmp.Or(t.Ended, now.UnixMilli()) - t.Started)
	if t.Started == 0 {
		text = ""
	}
	if others > 0 {
		text = "+" + texts.Plural(others, "task") + "  " + text
	}
	return []draw.Span{draw.Text(themes.Muted, text)}
}

// MouseHandler calls OnOpen for a click.
func (l *Strip) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return l.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		if action != tview.MouseLeftClick || !l.InRect(ev.Position()) {
			return false, nil
		}
		l.OnOpen()
		return true, nil
	})
}

// what describes the run in one line.
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
