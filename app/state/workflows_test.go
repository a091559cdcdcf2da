package state

import (
	"strings"
	"testing"

	"buddy/agent/event"
)

// workflowRun is a run that is interrupted and resumes.
func workflowRun() []event.Event {
	step := func(id string, s event.WorkflowState, why string, items ...string) event.Event {
		return event.WorkflowStepped{Run: 1, Step: id, State: s, Why: why, Items: items}
	}
	item := func(n int, s event.WorkflowState) event.Event {
		return event.WorkflowStepped{Run: 1, Step: "roll", Item: n, State: s}
	}
	return []event.Event{
		event.WorkflowStarted{Run: 1, Name: "rollout", Steps: []event.WorkflowStepDef{{ID: "look", Tool: "run_shell", Why: "what runs"}, {ID: "roll", Tool: "run_shell"}, {ID: "back", Tool: "run_shell"}}},
		step("look", event.WorkflowRunning, ""),
		step("look", event.WorkflowCompleted, ""),
		step("roll", event.WorkflowWaiting, "Go on?"),
		step("roll", event.WorkflowRunning, "", "a", "b", "c"),
		item(1, event.WorkflowRunning),
		item(1, event.WorkflowCompleted),
		item(2, event.WorkflowRunning),
		event.WorkflowChanged{Run: 1, State: event.WorkflowPaused, Why: "buddy ended"},
		event.WorkflowChanged{Run: 1, State: event.WorkflowRunning},
		item(2, event.WorkflowFailed),
		step("roll", event.WorkflowFailed, "1 of 3 failed"),
		step("back", event.WorkflowSkipped, "its condition does not hold"),
		event.WorkflowChanged{Run: 1, State: event.WorkflowCompleted, Outputs: map[string]string{"done": "a", "log": "x\ny\n"}},
	}
}

// Calls and steps of a paused run, and of runs within it, do not show as running; when the run resumes they do, and the
// result ends the call.
func TestWorkflowThatIsPausedRunsNothing(t *testing.T) {
	var s State
	seq := uint64(0)
	feed := func(task int, all ...event.Event) {
		for _, e := range all {
			seq++
			s.Apply(event.Envelope{Seq: seq, Task: task, Payload: e})
		}
	}
	step := []event.WorkflowStepDef{{ID: "one", Tool: "run_shell"}}
	feed(1, event.TaskStarted{ID: 1, Kind: event.MainTask},
		event.WorkflowStarted{Run: 1, Name: "outer", Steps: step},
		event.WorkflowStepped{Run: 1, Step: "one", State: event.WorkflowRunning},
		event.WorkflowStarted{Run: 2, Name: "inner", Steps: step, Parent: 1, Step: "one", Item: 1},
		event.WorkflowStepped{Run: 2, Step: "one", State: event.WorkflowRunning},
		event.WorkflowStepped{Run: 2, Step: "one", Item: 1, CallID: "c", State: event.WorkflowRunning},
		event.ToolRequested{CallID: "c", Name: "run_shell"}, event.ToolStarted{CallID: "c"},
		event.ToolRequested{CallID: "other", Name: "run_shell"}, event.ToolStarted{CallID: "other"},
		event.WorkflowChanged{Run: 1, State: event.WorkflowPaused, Why: "buddy ended while it ran"})
	call, other := s.calls["c"].Call, s.calls["other"].Call
	if inner := s.workflows[2]; call.State != CallLeft || other.State != CallRunning || inner.State != event.WorkflowPaused || inner.Steps[0].Line() != "‖ one · paused" {
		t.Errorf("paused: calls %d, %d, run within %s: %s", call.State, other.State, inner.State, inner.Steps[0].Line())
	}
	feed(2, event.TaskStarted{ID: 2, Kind: event.MainTask}, event.WorkflowChanged{Run: 1, State: event.WorkflowRunning},
		event.WorkflowStepped{Run: 1, Step: "one", State: event.WorkflowRunning},
		event.WorkflowChanged{Run: 2, State: event.WorkflowRunning},
		event.WorkflowStepped{Run: 2, Step: "one", State: event.WorkflowRunning})
	if inner := s.workflows[2]; call.State != CallRunning || inner.Steps[0].Line() != "◐ one" {
		t.Errorf("it goes on: call %d, %s", call.State, inner.Steps[0].Line())
	}
	feed(2, event.ToolResult{CallID: "c", Result: "done"})
	if call.State != CallDone {
		t.Errorf("its result: call %d", call.State)
	}
}

// The list of steps shows the progress of each, and its number of items; the end of the run is a notice.
func TestWorkflowShowsItsSteps(t *testing.T) {
	var s State
	seq := uint64(0)
	feed := func(task int, e event.Event) {
		seq++
		s.Apply(event.Envelope{Seq: seq, Task: task, Payload: e})
	}
	feed(1, event.TaskStarted{ID: 1, Kind: event.MainTask})
	all := workflowRun()
	for _, e := range all[:8] {
		feed(1, e)
	}
	list := s.Blocks[len(s.Blocks)-1]
	if want := "workflow rollout\n☑ look · what runs\n◐ roll 1/3\n☐ back"; list.Kind != WorkflowBlock || string(list.Text) != want {
		t.Errorf("the list is %q, want %q", list.Text, want)
	}
	if w := s.Tasks.Get(1).Workflow; w == nil || len(w.Steps) != 3 {
		t.Errorf("the task runs %+v", w)
	}
	feed(0, all[8])
	feed(2, event.TaskStarted{ID: 2, Kind: event.MainTask})
	for _, e := range all[9:] {
		feed(2, e)
	}
	end := s.Blocks[len(s.Blocks)-1]
	if want := "workflow rollout completed\ndone: a\nlog: \nx\ny"; end.Kind != NoticeBlock || string(end.Text) != want {
		t.Errorf("the end is %q, want %q", end.Text, want)
	}
	again := s.Blocks[len(s.Blocks)-2]
	if want := "workflow rollout\n☑ look · what runs\n✗ roll 1/3, 1 failed · 1 of 3 failed\n– back · its condition does not hold"; again.Kind != WorkflowBlock || string(again.Text) != want || again == list {
		t.Errorf("the list of the run that went on is %q, want %q", again.Text, want)
	}
	if strings.Contains(string(list.Text), "failed") {
		t.Errorf("the list that was interrupted changed: %q", list.Text)
	}
}
