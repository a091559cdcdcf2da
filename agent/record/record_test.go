package record

import (
	"fmt"
	"slices"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Apply handles every event type: a new one makes this test fail until a case is added.
func TestEveryEventIsKnown(t *testing.T) {
	for _, e := range append(slices.Clone(event.All), event.Unknown{Name: "later.event"}) {
		var r Record
		r.Apply(event.Envelope{Seq: 1, Payload: e})
	}
	defer func() {
		if recover() == nil {
			t.Error("an event that nobody decided about was taken")
		}
	}()
	var r Record
	r.Apply(event.Envelope{Payload: struct{ event.Event }{}})
}

// A screen that joins later gets the open events in order, and nothing else.
func TestOpenEvents(t *testing.T) {
	var r Record
	seq := uint64(0)
	take := func(all ...event.Event) {
		for _, e := range all {
			seq++
			r.Apply(event.Envelope{Seq: seq, Payload: e})
		}
	}
	wants := func(busy bool, want ...string) {
		t.Helper()
		var got []string
		for _, env := range r.Open() {
			got = append(got, event.Type(env.Payload))
		}
		if !slices.Equal(got, want) || r.Busy() != busy || r.Last != seq {
			t.Errorf("open %q, want %q; busy %v, last %d of %d", got, want, r.Busy(), r.Last, seq)
		}
	}
	take(event.SessionCreated{}, event.ModeChanged{Mode: action.ModeAsk})
	wants(false, "session.created", "policy.mode_changed")
	take(event.TaskStarted{ID: 1}, event.TextDelta{Text: "I will"}, event.ToolRequested{CallID: "c"}, event.ApprovalAsked{ID: "a", CallID: "c"}, event.TaskDeadline{ID: 1, Deadline: 7})
	wants(true, "session.created", "policy.mode_changed", "task.started", "tool.requested", "approval.asked")
	if began, ok := r.Open()[2].Payload.(event.TaskStarted); !ok || began.Deadline != 7 {
		t.Errorf("a later deadline is not known: %+v", began)
	}
	take(event.ApprovalAnswered{ID: "a", CallID: "c"}, event.ToolStarted{CallID: "c"}, event.ModeChanged{Mode: action.ModeAll}, event.PromptSubmitted{ID: 2, Queued: true})
	wants(true, "session.created", "task.started", "tool.requested", "tool.started", "policy.mode_changed", "prompt.submitted")
	take(event.ToolResult{CallID: "c"}, event.PromptSubmitted{ID: 2}, event.TaskFinished{ID: 1})
	wants(false, "session.created", "policy.mode_changed")
}

// A screen that joins later gets the branch of each event. Two calls with the same id are distinct, each until its
// own result.
func TestOpenEventsOfSubagents(t *testing.T) {
	var r Record
	seq := uint64(0)
	take := func(branch int, e event.Event) {
		seq++
		r.Apply(event.Envelope{Seq: seq, Branch: branch, Payload: e})
	}
	wants := func(want ...string) {
		t.Helper()
		var got []string
		for _, env := range r.Open() {
			got = append(got, fmt.Sprint(env.Branch, " ", event.Type(env.Payload)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("open %q, want %q", got, want)
		}
	}
	take(0, event.TaskStarted{ID: 1, Kind: event.MainTask})
	take(0, event.ContextUsage{Estimated: 1})
	take(0, event.ToolRequested{CallID: "call_1", Name: "agent"})
	take(0, event.BranchStarted{Branch: 1, Why: event.ForSubagent})
	take(1, event.TaskStarted{ID: 2, Kind: event.SubagentTask, Parent: 1, Call: "call_1"})
	take(1, event.ContextUsage{Estimated: 2})
	take(1, event.ToolRequested{CallID: "call_1", Name: "read_file"})
	wants("0 task.started", "0 context.usage", "0 tool.requested", "0 branch.started", "1 task.started", "1 tool.requested")
	take(1, event.ToolResult{CallID: "call_1"})
	wants("0 task.started", "0 context.usage", "0 tool.requested", "0 branch.started", "1 task.started")
	take(1, event.TaskFinished{ID: 2, Outcome: event.Completed})
	wants("0 task.started", "0 context.usage", "0 tool.requested")
}

// The output of a call that starts again in the sandbox is that of the second start only.
func TestSecondStartOfACallBeginsItsOutputAnew(t *testing.T) {
	var r Record
	for i, e := range []event.Event{
		event.ToolRequested{CallID: "c"},
		event.ToolStarted{CallID: "c"},
		event.ToolOutput{CallID: "c", Text: "stopped"},
		event.ToolStarted{CallID: "c", Fenced: true},
		event.ToolOutput{CallID: "c", Text: "works"},
	} {
		r.Apply(event.Envelope{Seq: uint64(i), Payload: e})
	}
	var printed string
	for _, env := range r.Transient(0) {
		if out, ok := env.Payload.(event.ToolOutput); ok {
			printed += out.Text
		}
	}
	if printed != "works" {
		t.Errorf("a screen that comes later sees %q", printed)
	}
}

// Open work of a process is lost when another one continues the session: screens do not get it, and it stays known
// until it is settled.
func TestOfAProcessThatEnded(t *testing.T) {
	var r Record
	for i, e := range []event.Event{
		event.SessionCreated{},
		event.PaneOpened{Pane: "%1"},
		event.TaskStarted{ID: 1, Kind: event.MainTask},
		event.TaskStarted{ID: 2, Kind: event.ShellTask},
		event.ToolRequested{CallID: "c"},
		event.ApprovalAsked{ID: "a", CallID: "c"},
		event.PromptSubmitted{ID: 3, Queued: true},
		event.SessionResumed{Model: "m"},
	} {
		r.Apply(event.Envelope{Seq: uint64(i), Payload: e})
	}
	var open []string
	for _, env := range r.Open() {
		open = append(open, event.Type(env.Payload))
	}
	if !slices.Equal(open, []string{"prompt.submitted", "session.created"}) || r.Busy() {
		t.Errorf("open %q, busy %v", open, r.Busy())
	}
	main := r.Branches[0]
	if c := main.Calls["c"]; !main.Open || c == nil || !c.Lost || !c.Waits() || r.Tasks[1] != nil || r.Tasks[2] == nil {
		t.Errorf("left: %+v, tasks %v", main, r.Tasks)
	}
	r.Apply(event.Envelope{Payload: event.ToolResult{CallID: "c"}})
	r.Apply(event.Envelope{Payload: event.TaskStarted{ID: 2, Kind: event.ShellTask}})
	if len(main.Calls) != 0 || !r.Busy() {
		t.Errorf("a settled call is open, or a task that was found again does not run: %v", main.Calls)
	}
}

// Finished work leaves nothing in memory except a short entry per exchange.
func TestNothingOfWhatEndedIsKept(t *testing.T) {
	var r Record
	for i := range 1000 {
		task, call := i+1, fmt.Sprint("c", i)
		for _, env := range []event.Envelope{
			{Payload: event.BranchStarted{Branch: task, Why: event.ForSubagent}},
			{Branch: task, Payload: event.TaskStarted{ID: task, Kind: event.SubagentTask}},
			{Branch: task, Task: task, Payload: event.TextDelta{Text: "text"}},
			{Branch: task, Payload: event.ToolRequested{CallID: call}},
			{Branch: task, Payload: event.ApprovalAsked{ID: call, CallID: call}},
			{Branch: task, Payload: event.ApprovalAnswered{ID: call, CallID: call}},
			{Branch: task, Payload: event.ToolOutput{CallID: call, Text: "text"}},
			{Branch: task, Payload: event.ToolResult{CallID: call}},
			{Branch: task, Payload: event.TaskFinished{ID: task}},
			{Payload: event.PaneOpened{Pane: call}},
			{Payload: event.PaneScreen{Pane: call}},
			{Payload: event.PaneClosed{Pane: call}},
			{Payload: event.TaskProgress{ID: task}},
			{Payload: event.TaskStarted{ID: task, Kind: event.ShellTask}},
			{Payload: event.TaskFinished{ID: task}},
		} {
			r.Apply(env)
		}
	}
	if n := len(r.Branches) + len(r.Tasks) + len(r.Asked) + len(r.panes) + len(r.screens) + len(r.progress) + len(r.latest); n > 1 { // the main conversation
		t.Errorf("%d things are kept: %+v", n, r)
	}
}
