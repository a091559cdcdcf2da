package host

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/live"
	"buddy/sessions"
)

// overview knows what is open of a session, as a screen has to know that comes later and reads the
// end of it only: the events that began what has not ended, and the newest of those that replace
// each other. It grows with what is open, not with the session.
type overview struct {
	mu    sync.Mutex // guards all below
	last  uint64
	open  map[string]event.Envelope
	tasks int  // that have not ended
	first int  // the newest main task; 0: there was none
	bad   bool // it failed
	title string
	began int64 // Unix milliseconds; 0: the session's file has not been read yet
}

// note takes an event. Events come in their order.
func (o *overview) note(env event.Envelope) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = env.Seq
	if r, ok := env.Payload.(event.SessionResumed); ok { // which would end what the screen has seen since
		env.Payload = event.SessionCreated{
			Version: r.Version, Cwd: r.Cwd, Target: r.Target, Profile: r.Profile, Model: r.Model, API: r.API, Window: r.Window, Effort: r.Effort,
		}
	}
	key, ends := subject(env)
	if key == "" {
		return
	}
	_, known := o.open[key]
	switch p := env.Payload.(type) {
	case event.TaskStarted:
		if !known {
			o.tasks++
		}
		if p.Kind == event.MainTask {
			o.first, o.bad = p.ID, false
		}
	case event.TaskFinished:
		o.bad = o.bad || p.ID == o.first && p.Outcome == event.Failed
		if known {
			o.tasks--
		}
	}
	if ends {
		delete(o.open, key)
		delete(o.open, key+later)
		if _, task := env.Payload.(event.TaskFinished); task && env.Branch != 0 {
			delete(o.open, branchKey(env.Branch))
		}
		return
	}
	if o.open == nil {
		o.open = make(map[string]event.Envelope)
	}
	o.open[key] = env
}

// later is added to the subject of an event that adds to another one, and ends with it.
const later = " later"

// subject says what an event is about, "" for what is of no interest, and whether it ends that.
func subject(env event.Envelope) (key string, ends bool) {
	switch p := env.Payload.(type) {
	case event.SessionCreated:
		return "session", false
	case event.ContextUsage:
		if env.Branch != 0 { // which the header does not show
			return "", false
		}
		return p.Type(), false
	case event.SessionRenamed, event.ModelSwitched, event.TargetSwitched, event.ModeChanged, event.MetricsUsage, event.CommandsListed:
		return p.Type(), false
	case event.BranchStarted:
		return branchKey(p.Branch), false
	case event.PromptSubmitted:
		return fmt.Sprint("prompt ", p.ID), !p.Queued
	case event.PromptWithdrawn:
		return fmt.Sprint("prompt ", p.ID), true
	case event.PaneOpened:
		return "pane " + p.Pane, false
	case event.PaneLost:
		return "pane " + p.Pane, true
	case event.PaneClosed:
		return "pane " + p.Pane, true
	}
	return taskSubject(env)
}

// branchKey is the subject of a conversation beside the main one, which ends with its task.
func branchKey(branch int) string { return fmt.Sprint("branch ", branch) }

// callKey is the subject of a call. Models of several conversations may give theirs the same id.
func callKey(branch int, id string) string { return fmt.Sprint("call ", branch, " ", id) }

// taskSubject is subject for what a task does.
func taskSubject(env event.Envelope) (key string, ends bool) {
	switch p := env.Payload.(type) {
	case event.TaskStarted:
		return fmt.Sprint("task ", p.ID), false
	case event.TaskDeadline:
		return fmt.Sprint("task ", p.ID, later), false
	case event.TaskFinished:
		return fmt.Sprint("task ", p.ID), true
	case event.ToolRequested:
		return callKey(env.Branch, p.CallID), false
	case event.ToolStarted:
		return callKey(env.Branch, p.CallID) + later, false
	case event.ToolResult:
		return callKey(env.Branch, p.CallID), true
	case event.ApprovalAsked:
		return "approval " + p.ID, false
	case event.ApprovalAnswered:
		return "approval " + p.ID, true
	case event.QuestionAsked:
		return "question " + p.ID, false
	case event.QuestionAnswered:
		return "question " + p.ID, true
	}
	return "", false
}

// busy reports whether a task has not ended.
func (o *overview) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tasks > 0
}

// summary says what the session does and what it has cost.
func (o *overview) summary() (s live.State, cost model.Money) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s = live.Idle
	switch {
	case o.tasks > 0:
		s = live.Background
	case o.bad:
		s = live.Failed
	}
	for _, env := range o.open {
		switch p := env.Payload.(type) {
		case event.TaskStarted:
			if p.Kind != event.ShellTask && s == live.Background {
				s = live.Working
			}
		case event.ApprovalAsked:
			s = live.WaitsForApproval
		case event.QuestionAsked:
			if s != live.WaitsForApproval {
				s = live.WaitsForAnswer
			}
		case event.MetricsUsage:
			cost = p.SessionCost
		}
	}
	return s, cost
}

// named returns the title of the session and when it began, zeros while it has no prompt. It reads the
// file once, as that takes the longer the more there is in it; a later title comes as an event.
func (o *overview) named(read func() (sessions.Entry, error)) (title string, began int64) {
	if title, began := o.name(); began != 0 {
		return title, began
	}
	entry, err := read() // without the lock: events don't wait
	if err != nil || entry.Title == "" {
		return "", entry.Header.Created
	}
	o.mu.Lock()
	o.title, o.began = entry.Title, entry.Header.Created
	o.mu.Unlock()
	return o.name()
}

// name is named for what is known already.
func (o *overview) name() (title string, began int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p, ok := o.open[event.SessionRenamed{}.Type()].Payload.(event.SessionRenamed); ok {
		return p.Title, o.began
	}
	return o.title, o.began
}

// main returns the number of the newest task that worked on a prompt, and whether it failed.
func (o *overview) main() (id int, failed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.first, o.bad
}

// has reports whether something is open.
func (o *overview) has(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.open[key]
	return ok
}

// waiting returns the approvals that are open.
func (o *overview) waiting() (ids []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, env := range o.open {
		if p, ok := env.Payload.(event.ApprovalAsked); ok {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// all returns the number of the newest event and what is open, in the order of the stream.
func (o *overview) all() (last uint64, open []event.Envelope) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last, slices.SortedFunc(maps.Values(o.open), func(a, b event.Envelope) int { return cmp.Compare(a.Seq, b.Seq) })
}
