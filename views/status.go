package views

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// StatusLine shows the present work above the prompt, with its elapsed time and, on the right, its keys.
type StatusLine struct {
	draw.Frame
	now        func() time.Time
	main       *state.Task  // a copy; nil if the main task does not run
	others     []state.Task // copies of background tasks
	agents     int          // subagents that calls wait for
	doing      doing
	lastOutput int64
	queued     int
	coming     state.Coming
	retry      *state.Retry
	steps      state.Steps
	follows    int // task id of the subagent whose conversation is shown instead of main; 0: none
	around     around
	own        []draw.Span // printed by the person's command; the end of the line
}

// doing describes the present work of the main task.
type doing struct {
	text   string // untrusted
	since  int64  // Unix milliseconds; 0: since the start of the task
	output int64  // bytes printed by the running call
	pane   bool   // the call runs in a pane that accepts keys
	waits  bool   // the call waits for keys
	tries  bool   // the call is only tried, so its changes are not kept
	reads  bool   // the model's server processes the request
}

// around describes how the rest of the screen affects the line.
type around struct {
	hint   string // untrusted; replaces everything else
	done   bool   // the hint reports success and is no warning
	note   string // replaces the running work
	mode   string // mode of the prompt, or ""; untrusted
	stops  string // keys that stop the main task from the present focus, or ""
	types  bool   // a key leads from the present focus into the pane of the call
	quiet  bool   // a dialog is open
	hidden Hidden
}

// Hidden lists the things that the line must show because they are not visible elsewhere.
type Hidden struct {
	Steps   bool // the list of steps
	Queue   bool // the queued prompts
	Retries bool // the retries of a request
	Others  bool // background tasks
}

// NewStatusLine returns an empty line. now is its clock.
func NewStatusLine(theme *themes.Theme, keys *keymap.Map, now func() time.Time) *StatusLine {
	return &StatusLine{Frame: draw.NewFrame(theme, keys), now: now}
}

// Update processes changes of the state.
func (l *StatusLine) Update(s *state.State, _ state.Changed) {
	l.main, l.others, l.agents, l.doing = nil, l.others[:0], 0, doing{}
	of, t := s, s.Running()
	if followed := s.Tasks.Get(l.follows); followed != nil && followed.Agent != nil {
		of, t = followed.Agent.Talk, followed
	}
	l.lastOutput, l.queued, l.coming, l.retry, l.steps = of.Heard, len(of.Queued), of.Coming, of.Retries.Retry, of.Steps
	if len(of.Reaching) > 0 {
		l.lastOutput = 0 // the model is not expected to send anything
	}
	if t != nil {
		c := *t
		l.main = &c
	}
	for _, t := range s.Tasks {
		switch {
		case t.State == state.TaskDone || l.main != nil && t.ID == l.main.ID:
		case t.Agent != nil && !t.Agent.Background:
			l.agents++
		case t.Kind != event.MainTask && t.Kind != event.LoopTask: // a loop is in the list of tasks
			l.others = append(l.others, *t)
		}
	}
	if t != nil {
		l.doing = l.doingNow(of, t)
	}
}

// Follow shows the work of the subagent with this task id instead of the main task; 0 shows the main task again.
func (l *StatusLine) Follow(task int) { l.follows = task }

// SetHint shows text instead of the running work, "" for none.
func (l *StatusLine) SetHint(text string) { l.around.hint, l.around.done = text, false }

// SetDone shows a success instead of the running work.
func (l *StatusLine) SetDone(text string) { l.around.hint, l.around.done = text, true }

// SetNote shows text instead of the running work, unless there is a hint; "" for none.
func (l *StatusLine) SetNote(text string) { l.around.note = text }

// SetOwn sets the end of the line, which the person's own command printed; "" for none.
func (l *StatusLine) SetOwn(line string) { l.own = draw.Printed(themes.Muted, line) }

// SetMode sets the mode or recipient of the prompt, shown on the right, "" for none.
func (l *StatusLine) SetMode(text string) { l.around.mode = text }

// SetQuiet sets whether a dialog above the prompt shows what waits for the person, so that the line does not repeat it.
func (l *StatusLine) SetQuiet(quiet bool) { l.around.quiet = quiet }

// SetHidden sets what is not visible elsewhere.
func (l *StatusLine) SetHidden(h Hidden) { l.around.hidden = h }

// SetStops sets which keys stop the main task while the present view has the focus ("" for none), and whether there is
// a key in that view that moves the focus to the pane of the running call.
func (l *StatusLine) SetStops(keys string, types bool) { l.around.stops, l.around.types = keys, types }

// Busy reports whether the line changes with time and must be drawn again.
func (l *StatusLine) Busy() bool {
	return l.main != nil && l.main.State != state.TaskDone || len(l.others)+l.agents > 0
}

// doingNow describes the present work of a task in its conversation.
func (l *StatusLine) doingNow(s *state.State, t *state.Task) doing {
	switch {
	case t.State == state.TaskWaiting:
		return waitsForPerson(s, t)
	case t.State == state.TaskCancelling:
		return doing{text: "Stopping"}
	case t.State == state.TaskQueued:
		return doing{text: "Queued"}
	case len(s.Hooks) > 0:
		return doing{text: hookRuns(s.Hooks)}
	case len(s.Reaching) > 0:
		return doing{text: "Connecting to " + strings.Join(s.Reaching, ", ")}
	case t.Doing != "":
		return doing{text: "Compacting: " + t.Doing}
	case t.Kind == event.CompactionTask:
		return doing{text: "Compacting"}
	case l.agents > 0 && t.Agent == nil && !runsItself(s.Focused):
		return doing{text: "Waiting for " + texts.Plural(l.agents, "agent")}
	case s.Trying != nil && s.Trying.State == state.CallTrying:
		d := callRuns(s.Trying)
		d.text, d.tries = "Trying "+strings.TrimPrefix(d.text, "Running ")+" (nothing changes)", true
		return d
	case s.Focused != nil && s.Focused.State == state.CallRunning:
		return callRuns(s.Focused)
	}
	return doing{text: modelDoes(s), since: s.Coming.Asked, reads: s.Coming.Reading.Busy()}
}

// waitsForPerson describes what a task needs from the person. The time counts from the oldest open request.
func waitsForPerson(s *state.State, t *state.Task) doing {
	d := doing{text: "Waiting for your approval"}
	if len(s.Questions) > 0 {
		d.text = "Waiting for your answer"
	}
	if len(t.Waits) > 0 {
		d.since = t.Waits[0].Since
	}
	return d
}

// maxCommand limits the columns of a command in the line.
const maxCommand = 32

// callRuns describes a running call: a command by its text, any other call by the tool's name.
func callRuns(c *state.Call) doing {
	what := c.Name
	if a := &c.Action; a.Kind.IsCommand() && a.Command != "" {
		what = draw.Shorten(markup.Inline(draw.FirstLine(a.Command)), maxCommand)
	}
	if c.On != "" {
		what += draw.OnTarget(c.On)
	}
	d := doing{
		text: "Running " + what, since: c.Started, output: c.Output.Dropped + int64(len(c.Output.Buf)),
		pane: c.Pane != "", waits: c.WaitsForKeys,
	}
	if d.waits {
		d.text = "Waiting for your input: " + what
	}
	return d
}

// modelDoes describes the activity of the model.
func modelDoes(s *state.State) string {
	if s.Coming.Reading.Busy() {
		return "Reading the prompt"
	}
	if s.Coming.Call {
		return "Writing a tool call"
	}
	if n := len(s.Blocks); n > 0 && s.Blocks[n-1].Open {
		if s.Blocks[n-1].Kind == state.ReasoningBlock {
			return "Thinking"
		}
		return "Writing"
	}
	return "Waiting for the model"
}

// runsItself reports whether a call runs without a subagent.
func runsItself(c *state.Call) bool {
	return c != nil && c.State == state.CallRunning && c.Agent == nil
}

// hookRuns describes the hooks that the task waits for.
func hookRuns(all []event.HookStarted) string {
	h := all[len(all)-1]
	text := "Running hook " + h.Name
	if h.Status != "" {
		text += ": " + h.Status
	}
	if len(all) > 1 {
		text += fmt.Sprintf(" and %d more", len(all)-1)
	}
	return text
}

// Draw draws the line, or nothing if there is nothing to show. If it is too long, Draw omits the last parts, then keys,
// and finally cuts the first part.
func (l *StatusLine) Draw(screen tcell.Screen) {
	in := l.Whole(screen).Cleared()
	all, keys := l.parts()
	var parts statusParts
	var right []draw.Span
	for n := len(keys); n >= 0; n-- {
		right = draw.Clip(l.right(keys[:n]), in.W/2)
		if parts = all.fitting(in.W - draw.Width(right) - gapTo(right)); parts.width()+gapTo(right)+draw.Width(right) <= in.W {
			break
		}
	}
	room := in.W - draw.Width(right)
	in.At(room).Spans(0, right...)
	in.Spans(0, draw.Clip(parts.spans(), max(room-gapTo(right), 0))...)
}

// gapTo returns the number of blank cells before the right part.
func gapTo(right []draw.Span) int {
	if len(right) == 0 {
		return 0
	}
	return itemGap
}

// right joins the keys and the mode of the prompt.
func (l *StatusLine) right(keys []draw.Hint) []draw.Span {
	var all []draw.Span
	for i, h := range keys {
		if i > 0 {
			all = append(all, draw.Text(themes.Muted, " · "))
		}
		all = append(all, draw.Clickable(h.Key, draw.Text(themes.Key, h.Name()), draw.Text(themes.Muted, " "+h.Label))...)
	}
	if l.around.mode != "" {
		if len(all) > 0 {
			all = append(all, draw.Text(themes.Muted, " · "))
		}
		all = append(all, draw.Untrusted(themes.Accent, l.around.mode)...)
	}
	return all
}

// parts returns the parts of the line, the most important first, and its keys.
func (l *StatusLine) parts() (parts statusParts, keys []draw.Hint) {
	now := l.now()
	switch {
	case l.around.hint != "" && l.around.done:
		parts.add(themes.ToolOK, l.around.hint)
		return parts, nil
	case l.around.hint != "":
		parts.add(themes.Warning, l.around.hint)
		return parts, nil
	case l.around.note != "":
		parts.add(themes.Notice, l.around.note)
	case l.around.quiet:
		return nil, nil
	case l.main != nil:
		keys = l.addMain(&parts, now)
	}
	if l.follows == 0 && l.around.hidden.Others {
		l.addOthers(&parts, now)
	}
	if len(l.own) > 0 {
		parts.addSpans(themes.Muted, l.own)
	}
	return parts, keys
}

// hint returns the first key of an action, if it has one.
func (l *StatusLine) hint(a keymap.Action, does string) []draw.Hint {
	keys := l.Keys.Keys(a)
	if len(keys) == 0 {
		return nil
	}
	return []draw.Hint{{Key: keys[0], Label: does}}
}

// addOthers adds the number of background tasks.
func (l *StatusLine) addOthers(parts *statusParts, now time.Time) {
	n := len(l.others)
	if n == 0 {
		return
	}
	text := texts.Plural(n, "background task")
	if l.main == nil {
		text = draw.Spinner(now.UnixMilli()) + " " + text
	}
	parts.add(themes.Running, text)
}

// addMain adds the parts about the main task, and returns its keys.
func (l *StatusLine) addMain(parts *statusParts, now time.Time) []draw.Hint {
	t := l.main
	if t.Agent != nil {
		return l.addFollowed(parts, now)
	}
	if wait := l.retry; wait != nil && l.around.hidden.Retries {
		parts.add(themes.Warning, "↻ "+wait.Text+". "+draw.RetryWait(wait.At-now.UnixMilli(), wait.Count))
		return append(l.hint(keymap.Send, "retries now"), l.stopHint("stops")...)
	}
	if l.retry != nil { // the conversation shows the retry
		l.addQueued(parts)
		return nil
	}
	glyph, role := draw.Spinner(now.UnixMilli()), themes.Running
	switch {
	case t.State == state.TaskWaiting || l.doing.waits:
		glyph, role = draw.WaitingSign, themes.Warning
	case t.State == state.TaskCancelling:
		glyph, role = "◌", themes.Warning
	}
	parts.add(role, glyph+" "+l.doing.text)
	reads := l.doing.reads && l.addReading(parts, now)
	if n := l.steps.Current(); n >= 0 && l.around.hidden.Steps {
		parts.add(themes.Muted, stepsTitle(l.steps)+" "+texts.OneLine(l.steps[n].Text))
	}
	l.addQueued(parts)
	if !reads {
		l.addTime(parts, now)
	}
	parts.addDeadline(t, now)
	return l.mainKeys()
}

// addQueued adds the number of queued prompts, if they are not visible.
func (l *StatusLine) addQueued(parts *statusParts) {
	if l.queued > 0 && l.around.hidden.Queue {
		parts.add(themes.Notice, fmt.Sprintf("%d queued", l.queued))
	}
}

// mainKeys returns the keys for the working main task.
func (l *StatusLine) mainKeys() (keys []draw.Hint) {
	if l.doing.waits {
		keys = l.typeHint("to type")
	}
	if l.main.State != state.TaskCancelling {
		does := "interrupts"
		if l.doing.tries {
			does = "throws it away"
		}
		keys = append(keys, l.stopHint(does)...)
	}
	if l.doing.pane && !l.doing.waits && l.main.State == state.TaskRunning {
		keys = append(keys, l.typeHint("types into it")...)
	}
	return keys
}

// stopHint returns the keys that stop the main task from the present focus, if any.
func (l *StatusLine) stopHint(does string) []draw.Hint {
	hints := l.hint(keymap.Back, does)
	if l.around.stops == "" || len(hints) == 0 {
		return nil
	}
	hints[0].Sign = l.around.stops
	return hints
}

// typeHint returns the key that leads from the present focus into the pane of the call, if any.
func (l *StatusLine) typeHint(does string) []draw.Hint {
	if !l.around.types {
		return nil
	}
	return l.hint(keymap.TypeInto, does)
}

// readingBar is the width of the progress bar of a request.
const readingBar = 8

// addReading adds how much of the request the server has processed. It reports whether it also added the remaining
// time, which replaces the elapsed time.
func (l *StatusLine) addReading(parts *statusParts, now time.Time) bool {
	percent, left, ok := l.coming.Reading.Left(now.UnixMilli())
	if !ok {
		parts.add(themes.Running, texts.Plural(l.coming.Reading.Total, "token"))
		return false
	}
	*parts = append(*parts, draw.Untrusted(themes.Running, fmt.Sprintf(" %s %d%%", draw.Gauge(percent, readingBar), percent)))
	parts.add(themes.Running, "about "+draw.Elapsed(left+999)+" left")
	return true
}

// addTime adds the elapsed time and the amount of output.
func (l *StatusLine) addTime(parts *statusParts, now time.Time) {
	since := l.doing.since
	if since == 0 {
		since = l.main.Started
	}
	if since > 0 {
		parts.add(themes.Running, draw.Elapsed(now.UnixMilli()-since))
	}
	if quiet := now.UnixMilli() - l.lastOutput; l.lastOutput > 0 && l.main.State == state.TaskRunning && quiet >= l.doing.mayBeQuiet().Milliseconds() {
		parts.add(themes.Warning, fmt.Sprintf("quiet for %d s", quiet/1000))
	}
	if l.doing.output > 0 {
		parts.add(themes.Running, texts.ByteCount(l.doing.output))
	}
	if l.doing.since == 0 || l.doing.since != l.coming.Asked || l.coming.Bytes < tokenBytes {
		return
	}
	tokens := l.coming.Bytes / tokenBytes
	parts.add(themes.Running, texts.Plural(tokens, "token"))
	if ms := l.lastOutput - l.coming.First; ms >= 1000 {
		parts.add(themes.Running, fmt.Sprintf("%d tokens/s", int64(tokens)*1000/ms))
	}
}

// tokenBytes is an estimate of the bytes per token, because providers report counts only at the end of an answer.
const tokenBytes = 4

// addFollowed adds the parts about the subagent whose conversation is shown.
func (l *StatusLine) addFollowed(parts *statusParts, now time.Time) []draw.Hint {
	t := l.main
	glyph, role, word := draw.TaskState(t, now)
	if t.State != state.TaskDone && t.State != state.TaskCancelling {
		word = l.doing.text
	}
	parts.add(role, glyph+" "+t.Label()+" "+elapsed(t, now))
	if word != "" {
		parts.add(role, word)
	}
	return l.stopHint("goes back")
}

// quietAfter is the duration of a model's silence before the line mentions it.
const quietAfter = 20 * time.Second

// mayBeQuiet returns how long the model may be silent before the line mentions it. A server that processes a long
// prompt reports progress only every 30 seconds (github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md,
// --sse-ping-interval).
func (d doing) mayBeQuiet() time.Duration {
	if d.reads {
		return 3 * quietAfter
	}
	return quietAfter
}
