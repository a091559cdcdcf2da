package views

import (
	"fmt"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
)

// StatusLine says above the prompt what runs and what it waits for.
type StatusLine struct {
	draw.Frame
	now         func() time.Time
	main        *state.Task  // a copy; nil when the main task does not run
	others      []state.Task // copies; what runs in the background
	doing       string       // untrusted
	heard       int64
	retry       *state.Retry
	queued      int
	interrupted bool
	hint        string // untrusted; shows instead of all else
	stops       string // the keys that stop the main task from where the person is; "" for none
	agents      int    // subagents that work for calls which wait for them
	steps       state.Steps
	bare        bool   // the steps show nowhere else
	mode        string // what the prompt is at, "" for nothing to say; untrusted
	follows     int    // the subagent whose conversation shows, which is then in the place of main; 0 is none
}

// NewStatusLine returns an empty line. now tells the time.
func NewStatusLine(theme *themes.Theme, keys *keymap.Map, now func() time.Time) *StatusLine {
	return &StatusLine{Frame: draw.NewFrame(theme, keys), now: now}
}

// Update takes over what changed.
func (l *StatusLine) Update(s *state.State, _ state.Changed) {
	l.main, l.others, l.agents, l.doing = nil, l.others[:0], 0, ""
	l.interrupted = s.Info.Interrupted
	of, t := s, s.Running()
	if followed := s.Tasks.Get(l.follows); followed != nil && followed.Agent != nil {
		of, t = followed.Agent.Talk, followed
	}
	l.heard, l.retry, l.queued, l.steps = of.Heard, of.Retry, len(of.Queued), of.Steps
	if t != nil {
		c := *t
		l.main = &c
	}
	for _, t := range s.Tasks {
		switch {
		case t.State == state.TaskDone || l.main != nil && t.ID == l.main.ID:
		case t.Agent != nil && !t.Agent.Background:
			l.agents++
		case t.Kind != event.MainTask:
			l.others = append(l.others, *t)
		}
	}
	if t != nil {
		l.doing = l.doingNow(of, t)
	}
}

// Follow makes the line say what a subagent does instead of the main task; 0 ends that.
func (l *StatusLine) Follow(task int) { l.follows = task }

// SetHint shows text instead of what runs; "" shows that again.
func (l *StatusLine) SetHint(text string) { l.hint = text }

// SetMode sets what stands at the right: what the prompt is at, or for whom, "" for nothing.
func (l *StatusLine) SetMode(text string) { l.mode = text }

// SetBare says that the list of steps shows nowhere else.
func (l *StatusLine) SetBare(bare bool) { l.bare = bare }

// SetStops says which keys stop the main task from where the person is, "" for none.
func (l *StatusLine) SetStops(keys string) { l.stops = keys }

// Busy reports whether the line changes with time, so that it must be drawn again.
func (l *StatusLine) Busy() bool {
	return l.main != nil && l.main.State != state.TaskDone || len(l.others)+l.agents > 0
}

// doingNow says what a task does at the moment in its conversation.
func (l *StatusLine) doingNow(s *state.State, t *state.Task) string {
	switch {
	case t.State == state.TaskWaiting && len(s.Questions) > 0:
		return "waits for your answer"
	case t.State == state.TaskWaiting:
		return "waits for your approval"
	case t.State == state.TaskCancelling:
		return "cancelling"
	case t.State == state.TaskQueued:
		return "queued"
	case len(s.Hooks) > 0:
		return hookRuns(s.Hooks)
	case t.Doing != "":
		return t.Doing
	case l.agents > 0 && t.Agent == nil && !runsItself(s.Focused):
		return "waits for " + draw.Plural(l.agents, "agent")
	case s.Focused != nil && s.Focused.State == state.CallRunning:
		return callRuns(s.Focused)
	}
	return modelDoes(s, t.Turns)
}

// callRuns says which call runs, and how much it has printed.
func callRuns(c *state.Call) string {
	running := "running " + c.Name
	if c.On != "" {
		running += draw.OnTarget(c.On)
	}
	if n := c.Output.Dropped + int64(len(c.Output.Buf)); n > 0 {
		running += " · " + draw.ByteCount(n)
	}
	return running
}

// modelDoes says what the model does, after so many turns of the task: a request with results of tools is a
// follow-up of the one that the person began.
func modelDoes(s *state.State, turns int) string {
	if n := len(s.Blocks); n > 0 && s.Blocks[n-1].Open {
		if s.Blocks[n-1].Kind == state.ReasoningBlock {
			return "thinking"
		}
		return "answering"
	}
	if turns > 0 {
		return fmt.Sprintf("waiting for the model · follow-up %d", turns)
	}
	return "waiting for the model"
}

// runsItself reports whether a call runs, and not an agent for it.
func runsItself(c *state.Call) bool {
	return c != nil && c.State == state.CallRunning && c.Agent == nil
}

// hookRuns says which hooks the task waits for.
func hookRuns(all []event.HookStarted) string {
	h := all[len(all)-1]
	text := "hook " + h.Name
	if h.Status != "" {
		text += ": " + h.Status
	}
	if len(all) > 1 {
		text += fmt.Sprintf(" and %d more", len(all)-1)
	}
	return text
}

// Draw draws the line; nothing when nothing is to be said.
func (l *StatusLine) Draw(screen tcell.Screen) {
	in := l.Whole(screen).Cleared()
	room := in.W
	if mode := draw.Clip(draw.Untrusted(themes.Accent, l.mode), in.W/2); len(mode) > 0 {
		room -= draw.Width(mode)
		in.At(room).Spans(0, mode...)
		room -= itemGap
	}
	in.Spans(0, draw.Clip(l.spans(), max(room, 0))...)
}

func (l *StatusLine) spans() []draw.Span {
	if l.hint != "" {
		return draw.Untrusted(themes.Warning, l.hint)
	}
	now := l.now()
	var parts statusParts
	if l.main != nil {
		l.addMain(&parts, now)
	} else if l.interrupted && l.follows == 0 {
		parts.add(themes.Warning, "interrupted")
		parts.add(themes.Text, l.Keys.Name(keymap.Send)+" continues")
	}
	if n := l.steps.Current(); n >= 0 && l.bare && l.main != nil && l.main.State != state.TaskDone {
		parts.add(themes.Muted, stepsTitle(l.steps)+" "+draw.OneLine(l.steps[n].Text))
	}
	if l.follows == 0 {
		l.addOthers(&parts, now)
	}
	if l.queued > 0 {
		parts.add(themes.Notice, fmt.Sprintf("%d queued", l.queued))
	}
	return parts
}

// addOthers adds what is said of the tasks in the background: one alone is named, several are counted.
func (l *StatusLine) addOthers(parts *statusParts, now time.Time) {
	switch n := len(l.others); {
	case n == 0:
	case n == 1 && l.main == nil:
		t := &l.others[0]
		glyph, role, word := draw.TaskState(t, now)
		parts.add(role, glyph+" "+taskName(t)+" "+elapsed(t, now))
		if word != "" {
			parts.add(role, word)
		}
		parts.add(themes.Running, "in the background")
		parts.addDeadline(t, now)
	case l.main == nil:
		parts.add(themes.Running, draw.Spinner(now.UnixMilli())+" "+draw.Plural(n, "task")+" in the background")
	default:
		parts.add(themes.Running, fmt.Sprintf("%d in the background", n))
	}
}

// taskName names a task by its number and kind.
func taskName(t *state.Task) string { return fmt.Sprintf("#%d %s", t.ID, t.Kind) }

// addMain adds what is said of the main task.
func (l *StatusLine) addMain(parts *statusParts, now time.Time) {
	t := l.main
	glyph, role := draw.Spinner(now.UnixMilli()), themes.Running
	switch t.State {
	case state.TaskWaiting:
		glyph, role = draw.WaitingSign, themes.Warning
	case state.TaskCancelling:
		glyph, role = "◌", themes.Warning
	}
	if t.Agent != nil {
		l.addFollowed(parts, now)
		return
	}
	parts.add(role, glyph+" "+taskName(t)+" "+elapsed(t, now))
	if wait := l.retry; wait != nil && wait.At > now.UnixMilli() {
		parts.add(themes.Warning, fmt.Sprintf("attempt %d failed, the next in %s", wait.Attempt, draw.Clock(wait.At-now.UnixMilli()+999)))
		parts.add(themes.Text, l.Keys.Name(keymap.Send)+" now")
		parts.add(themes.Text, l.Keys.Name(keymap.Back)+" stops")
	} else {
		parts.add(role, l.doing)
		if l.stops != "" && t.State != state.TaskCancelling {
			parts.add(themes.Muted, l.stops+" interrupts")
		}
		if quiet := now.UnixMilli() - l.heard; l.heard > 0 && t.State == state.TaskRunning && quiet >= quietAfter.Milliseconds() {
			parts.add(themes.Warning, fmt.Sprintf("quiet for %d s", quiet/1000))
		}
	}
	parts.addDeadline(t, now)
}

// addFollowed adds what is said of the subagent whose conversation shows.
func (l *StatusLine) addFollowed(parts *statusParts, now time.Time) {
	t := l.main
	glyph, role, word := draw.TaskState(t, now)
	if t.State != state.TaskDone && t.State != state.TaskCancelling {
		word = l.doing
	}
	parts.add(role, glyph+" "+t.Label()+" "+elapsed(t, now))
	if word != "" {
		parts.add(role, word)
	}
	if l.stops != "" {
		parts.add(themes.Muted, l.stops+" goes back")
	}
}

// statusParts are what the line says, with dots between.
type statusParts []draw.Span

func (p *statusParts) add(r themes.Role, text string) {
	if len(*p) > 0 {
		text = " · " + text
	}
	*p = append(*p, draw.Untrusted(r, text)...)
}

// addDeadline says how much time a task has left.
func (p *statusParts) addDeadline(t *state.Task, now time.Time) {
	if t.Deadline > 0 && t.State != state.TaskDone {
		p.add(themes.Muted, draw.Clock(max(0, t.Deadline-now.UnixMilli()))+" left")
	}
}

// quietAfter is how long a model may be silent before that is worth saying.
const quietAfter = 20 * time.Second

// elapsed is how long a task runs or ran; empty before it started.
func elapsed(t *state.Task, now time.Time) string {
	if t.Started == 0 {
		return ""
	}
	end := t.Ended
	if t.State != state.TaskDone {
		end = now.UnixMilli()
	}
	return draw.Clock(end - t.Started)
}
