package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/inject"
	"buddy/agent/turn"
	"buddy/extensions/workflow"
	"buddy/texts"
	"buddy/tools"
)

// Record holds the state of a run as its events define it: progress, and the output of calls if later steps use it. It
// is not safe for concurrent use.
type Record struct {
	event.WorkflowStarted
	Task    int   // the task that last worked on it
	Began   int64 // Unix milliseconds
	Changed int64 // Unix milliseconds of the last change of State
	State   event.WorkflowState
	Why     string // the reason of State
	Outputs map[string]string

	steps map[string]*stepRecord
	calls map[string]*unit // calls without a result, by id
}

// stepRecord holds the progress of a step.
type stepRecord struct {
	state   event.WorkflowState
	why     string
	started bool // started in this process
	passed  bool // its condition held and its gate was passed
	each    bool // it has items
	items   []string
	units   map[int]*unit // by item, from 1; a step without items has the single unit 1
	keeps   bool          // another part of the workflow uses its output
	cached  *workflow.Result
}

// unit is one call of a step, with its repetitions.
type unit struct {
	state   event.WorkflowState
	why     string
	call    string // id of the newest call
	attempt int
	began   *event.ToolStarted // nil: the call has not started
	got     *outcome           // of the newest call; nil: none yet
}

// outcome is the result of a call.
type outcome struct {
	ok       bool
	exitCode *int
	output   string
	stdout   string
	problem  string // one line about a failed call
	final    bool   // a nested run that must not be repeated
	unknown  bool   // it was interrupted, and its effect is unknown
}

// Limits of the stored output of a call, in bytes.
const (
	keepOutput = 64 << 10 // of a step with one call
	keepItem   = 8 << 10  // of a step with items
)

// newRecord returns the record of a new run.
func newRecord(task int, at int64, e event.WorkflowStarted) *Record {
	r := &Record{WorkflowStarted: e, Task: task, Began: at, Changed: at, State: event.WorkflowRunning, steps: make(map[string]*stepRecord), calls: make(map[string]*unit)}
	for _, s := range e.Steps {
		r.steps[s.ID] = &stepRecord{state: event.WorkflowPending, units: make(map[int]*unit), keeps: strings.Contains(e.Source, "steps."+s.ID+".")}
	}
	return r
}

// apply applies an event of the run or of one of its calls.
func (r *Record) apply(at int64, e event.Event) {
	switch p := e.(type) {
	case event.WorkflowChanged:
		r.State, r.Why, r.Changed = p.State, p.Why, at
		if p.State == event.WorkflowPaused {
			for _, s := range r.steps {
				if s.state == event.WorkflowRunning || s.state == event.WorkflowWaiting {
					s.state, s.why = p.State, string(p.State)
				}
			}
		}
		if p.State.Ended() {
			r.Outputs, r.calls = p.Outputs, nil
			for _, s := range r.steps {
				s.forget()
			}
		}
	case event.WorkflowStepped:
		r.stepped(p)
	case event.ToolStarted:
		if u := r.calls[p.CallID]; u != nil {
			u.began = &p
		}
	case event.ToolResult:
		if u := r.calls[p.CallID]; u != nil {
			u.got = outcomeOf(p)
			delete(r.calls, p.CallID)
		}
	}
}

// stepped applies the progress of a step.
func (r *Record) stepped(p event.WorkflowStepped) {
	s := r.steps[p.Step]
	if s == nil || r.State.Ended() {
		return
	}
	if p.Item == 0 {
		s.state, s.why = p.State, p.Why
		s.passed = s.passed || p.State == event.WorkflowRunning
		if p.Items != nil {
			s.each, s.items = true, p.Items
		}
		return
	}
	u := s.units[p.Item]
	if u == nil {
		u = &unit{}
		s.units[p.Item] = u
	}
	u.state, u.why = p.State, p.Why
	if p.CallID != "" && p.CallID != u.call {
		delete(r.calls, u.call)
		u.call, u.attempt, u.began, u.got = p.CallID, p.Attempt, nil, nil
		r.calls[p.CallID] = u
	}
	if p.State.Ended() {
		s.trim(u)
	}
}

// trim drops the unused output of a call that has ended.
func (s *stepRecord) trim(u *unit) {
	u.began = nil
	switch {
	case u.got == nil:
	case !s.keeps:
		u.got.output, u.got.stdout = "", ""
	case s.each:
		u.got.output, u.got.stdout = clip(u.got.output, keepItem), clip(u.got.stdout, keepItem)
	default:
		u.got.output, u.got.stdout = clip(u.got.output, keepOutput), clip(u.got.stdout, keepOutput)
	}
}

// forget drops the output of a step, after the end of the run.
func (s *stepRecord) forget() {
	s.cached = nil
	for _, u := range s.units {
		u.got, u.began = nil, nil
	}
}

// result returns the value of an ended step in templates and conditions.
func (s *stepRecord) result() workflow.Result {
	if s.cached != nil {
		return *s.cached
	}
	res := workflow.Result{Ran: s.state != event.WorkflowSkipped, OK: s.state == event.WorkflowCompleted}
	var output, stdout strings.Builder
	for _, n := range slices.Sorted(maps.Keys(s.units)) {
		got := s.units[n].got
		if got == nil {
			continue
		}
		if s.each && n <= len(s.items) {
			label := "── " + s.items[n-1] + "\n"
			output.WriteString(label)
			if got.stdout != "" { // so that a step whose items have no output has none either
				stdout.WriteString(label)
			}
		}
		output.WriteString(ended(got.output, s.each))
		stdout.WriteString(ended(got.stdout, s.each))
		if got.exitCode != nil && (res.ExitCode == nil || *res.ExitCode == 0) {
			res.ExitCode = got.exitCode
		}
	}
	res.Output, res.Stdout = output.String(), stdout.String()
	if s.each {
		res.Done, res.Failed = s.inState(event.WorkflowCompleted), s.inState(event.WorkflowFailed)
	}
	s.cached = &res
	return res
}

// ended adds a newline to a text if another text follows.
func ended(text string, more bool) string {
	if more && text != "" && !strings.HasSuffix(text, "\n") {
		return text + "\n"
	}
	return text
}

// clip returns the start and the end of a text, together about limit bytes.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := s[len(s)-limit/2:]
	if i := strings.IndexByte(end, '\n'); i >= 0 {
		end = end[i+1:]
	}
	return tools.Head(s, limit/2) + "\n" + tools.Truncated + "\n" + strings.ToValidUTF8(end, "")
}

// outcomeOf reads the result of a call.
func outcomeOf(p event.ToolResult) *outcome {
	o := &outcome{exitCode: p.ExitCode, output: p.Tail, ok: !p.IsError && (p.ExitCode == nil || *p.ExitCode == 0)}
	switch {
	case p.IsError && o.output == "":
		o.output = p.Text()
	case p.ExitCode == nil:
	case p.Stdout != nil:
		o.stdout = *p.Stdout
	default:
		o.stdout = p.Tail
	}
	if o.stdout == "" && p.ExitCode == nil && !p.IsError { // the text of an error is no output
		o.stdout = o.output
	}
	o.output, o.stdout = defused(o.output), defused(o.stdout)
	if !o.ok {
		o.problem = problemOf(p)
		o.unknown = strings.HasPrefix(p.Result, turn.OutcomeUnknown) || strings.HasPrefix(p.Result, history.Unanswered)
	}
	return o
}

// problemOf describes in one line why a call failed.
func problemOf(p event.ToolResult) string {
	text := p.Text()
	if p.ExitCode != nil && !p.IsError {
		last := strings.TrimSpace(p.Tail)
		text = fmt.Sprintf("exit code %d", *p.ExitCode)
		if last = texts.OneLine(last[strings.LastIndexByte(last, '\n')+1:]); last != "" {
			text += ": " + last
		}
	}
	return texts.Clip(texts.OneLine(text), maxWhy)
}

// defused returns an output without prompt injections.
func defused(text string) string {
	if text == "" {
		return ""
	}
	return inject.Defuse(text, inject.Scan(text))
}

// counts returns how many items are done, failed and exist in total.
func (s *stepRecord) counts() (done, failed, of int) {
	for _, u := range s.units {
		switch u.state {
		case event.WorkflowCompleted:
			done++
		case event.WorkflowFailed:
			failed++
		}
	}
	return done, failed, len(s.items)
}

// inState returns the items whose calls are in a state, in order.
func (s *stepRecord) inState(state event.WorkflowState) []string {
	all := []string{}
	for _, n := range slices.Sorted(maps.Keys(s.units)) {
		if n > 0 && n <= len(s.items) && s.units[n].state == state {
			all = append(all, s.items[n-1])
		}
	}
	return all
}
