package workflow

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
)

// Book holds the runs of a session. The zero value is empty and can only replay. It is safe for concurrent use.
type Book struct {
	stream *stream.Stream // receives events
	now    func() time.Time

	mu   sync.Mutex // guards all below, and the records
	runs []*Record  // by number
}

// Replay applies a stored event of an earlier process.
func (b *Book) Replay(env event.Envelope) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.apply(env.Task, env.Time, env.Payload)
}

// apply applies an event. The caller holds b.mu.
func (b *Book) apply(task int, at int64, e event.Event) {
	switch p := e.(type) {
	case event.WorkflowStarted:
		b.runs = append(b.runs, newRecord(task, at, p))
	case event.WorkflowStepped:
		b.on(p.Run, at, p)
	case event.WorkflowChanged:
		b.on(p.Run, at, p)
		if p.State == event.WorkflowPaused {
			b.pauseWithin(p.Run, at)
		}
	case event.ToolStarted, event.ToolResult:
		for _, r := range b.runs {
			if !r.State.Ended() {
				r.apply(at, p)
			}
		}
	}
}

// pauseWithin pauses the runs that steps of a run have started. The caller holds b.mu.
func (b *Book) pauseWithin(run int, at int64) {
	for _, r := range b.runs {
		if r.Parent == run && !r.State.Ended() {
			r.apply(at, event.WorkflowChanged{Run: r.Run, State: event.WorkflowPaused})
			b.pauseWithin(r.Run, at)
		}
	}
}

// CutOff pauses the active runs in a book that is only read, because their process has ended.
func (b *Book) CutOff(why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.Parent == 0 && !r.State.Ended() && r.State != event.WorkflowPaused {
			b.apply(r.Task, r.Changed, event.WorkflowChanged{Run: r.Run, State: event.WorkflowPaused, Why: why})
		}
	}
}

// on applies an event of one run. The caller holds b.mu.
func (b *Book) on(run int, at int64, e event.Event) {
	r := b.find(run)
	if r == nil {
		return
	}
	r.apply(at, e)
	if up := b.find(r.Parent); up != nil && r.State.Ended() {
		if s := up.steps[r.Step]; s != nil && s.units[r.Item] != nil {
			s.units[r.Item].got = outputsOf(r)
		}
	}
}

// find returns a run by number, or nil. The caller holds b.mu.
func (b *Book) find(run int) *Record {
	i := slices.IndexFunc(b.runs, func(r *Record) bool { return r.Run == run })
	if i < 0 {
		return nil
	}
	return b.runs[i]
}

// publish applies an event of a run and publishes it. An error means that the event can't be stored.
func (b *Book) publish(task int, e event.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.apply(task, b.now().UnixMilli(), e)
	return b.stream.Record(task, 0, e)
}

// result records the result of a call that the stream already has.
func (b *Book) result(e event.ToolResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.apply(0, b.now().UnixMilli(), e)
}

// add adds a run and assigns its number.
func (b *Book) add(task int, e event.WorkflowStarted) (*Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.Run = len(b.runs) + 1
	b.apply(task, b.now().UnixMilli(), e)
	return b.runs[len(b.runs)-1], b.stream.Record(task, 0, e)
}

// owns reports whether a call belongs to a run that has not ended.
func (b *Book) owns(call string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.runs, func(r *Record) bool { return r.calls[call] != nil })
}

// active returns the newest active run, or 0.
func (b *Book) active() int { return b.newest((*Record).active) }

// paused returns the newest paused run, or 0.
func (b *Book) paused() int {
	return b.newest(func(r *Record) bool { return r.State == event.WorkflowPaused })
}

func (b *Book) newest(is func(*Record) bool) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range slices.Backward(b.runs) {
		if r.Parent == 0 && is(r) {
			return r.Run
		}
	}
	return 0
}

// get returns a copy of a run by number, or the zero value.
func (b *Book) get(run int) (r Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if found := b.find(run); found != nil {
		r = *found
	}
	return r
}

// active reports whether the run works or waits for a person.
func (r *Record) active() bool {
	return r.State == event.WorkflowRunning || r.State == event.WorkflowWaiting
}

// status describes a state with its reason.
func status(state event.WorkflowState, why string) string {
	if why != "" {
		return string(state) + " (" + why + ")"
	}
	return string(state)
}

// stepLines describes the steps, one line each.
func (r *Record) stepLines() []string {
	var lines []string
	for _, def := range r.Steps {
		s := r.steps[def.ID]
		line := s.state.Sign() + " " + def.ID
		if done, failed, of := s.counts(); s.each {
			line += fmt.Sprintf(" %d/%d", done, of)
			if failed > 0 {
				line += fmt.Sprintf(", %d failed", failed)
			}
		}
		if s.why != "" {
			line += ": " + s.why
		}
		lines = append(lines, line)
	}
	return lines
}

// Summary describes a run in lists.
type Summary struct {
	Run, Parent int // Parent is the run whose step started this run, or 0
	Name        string
	Began       time.Time
	State       event.WorkflowState
	Why         string
	Steps       []string // progress of each step, one line each; empty after the end
}

// Status describes the state with its reason.
func (s Summary) Status() string { return status(s.State, s.Why) }

// Runs returns the runs of the session, oldest first.
func (b *Book) Runs() []Summary {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Summary
	for _, r := range b.runs {
		s := Summary{Run: r.Run, Parent: r.Parent, Name: r.Name, Began: time.UnixMilli(r.Began), State: r.State, Why: r.Why}
		if !s.State.Ended() {
			s.Steps = r.stepLines()
		}
		all = append(all, s)
	}
	return all
}
