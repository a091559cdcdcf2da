package views

import (
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/viewtest"
)

// Nobody cancelled what ended with the process that ran it.
func TestTaskOfEarlierProcessIsInterrupted(t *testing.T) {
	var s state.State
	changed := viewtest.Feed(&s,
		event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "by hand"},
		event.TaskFinished{ID: 1, Outcome: event.Cancelled},
		event.TaskStarted{ID: 2, Kind: event.MainTask, Title: "under way"},
		event.SessionResumed{Interrupted: true})
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	v.Update(&s, changed)
	screen := viewtest.Text(t, v, 60, 5)
	for _, want := range []string{"#1 ⊘ main     cancelled · by hand", "#2 ⊘ main     interrupted · under way"} {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q in\n%s", want, screen)
		}
	}
}

// Below the task that runs a workflow are its steps, as long as it runs; they are that task.
func TestTasksShowTheStepsOfAWorkflow(t *testing.T) {
	s := &viewtest.Session{}
	for i, e := range []event.Event{
		event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "/workflow rollout"},
		event.WorkflowStarted{Run: 1, Name: "rollout", Steps: []event.WorkflowStepDef{{ID: "look"}, {ID: "roll", Why: "the others"}, {ID: "back\x1b[31m"}}},
		event.WorkflowStepped{Run: 1, Step: "look", State: event.WorkflowCompleted},
		event.WorkflowStepped{Run: 1, Step: "roll", State: event.WorkflowRunning, Items: []string{"a", "b"}},
		event.WorkflowStepped{Run: 1, Step: "roll", Item: 1, State: event.WorkflowFailed},
	} {
		s.Apply(event.Envelope{Seq: uint64(i + 1), Task: 1, Payload: e})
	}
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	v.Update(&s.State, state.Everything)
	v.Focus(nil)
	for size, want := range map[[2]int][]string{
		{60, 8}: {"└ ☑ look", "└ ◐ roll 0/2, 1 failed · the others", "└ ☐ back"},
		{34, 8}: {"└ ☑ look", "└ ◐ roll 0/2, 1 failed"},
	} {
		text := viewtest.Text(t, v, size[0], size[1])
		for _, line := range want {
			if !strings.Contains(text, line) {
				t.Errorf("%v: no %q in\n%s", size, line, text)
			}
		}
	}
	cancelled := 0
	v.OnCancel = func(id int) { cancelled = id }
	viewtest.Press(t, v, "item-down", "item-down", "task-cancel")
	if cancelled != 1 {
		t.Errorf("cancelling a step cancels task %d, want 1", cancelled)
	}
	s.Feed(event.TaskFinished{ID: 1, Outcome: event.Completed})
	if v.Update(&s.State, state.Everything); v.Rows(60) != 1 {
		t.Errorf("%d rows are left of a run that has ended, want 1", v.Rows(60))
	}
}
