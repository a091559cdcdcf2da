package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/viewtest"
)

// Ended tasks that are visible elsewhere are not listed; others are listed until the person was in the list.
func TestTasksListWhatRunsOrWasNotSeen(t *testing.T) {
	s := &viewtest.Session{}
	branch := func(n int, events ...event.Event) {
		for _, e := range events {
			id := 0
			switch e := e.(type) {
			case event.TaskStarted:
				id = e.ID
			case event.TaskFinished:
				id = e.ID
			}
			s.Apply(event.Envelope{Seq: 1, Branch: n, Task: id, Payload: e})
		}
	}
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	check := func(when string, want ...string) {
		t.Helper()
		v.Update(&s.State, state.Everything)
		var got []string
		for _, row := range v.tasks {
			got = append(got, fmt.Sprintf("%d%s", row.ID, strings.Repeat("+", row.depth)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s it lists %v, want %v", when, got, want)
		}
	}
	agent := func(id, parent int, background bool) event.TaskStarted {
		return event.TaskStarted{ID: id, Kind: event.SubagentTask, Agent: "explore", Parent: parent, Background: background}
	}
	branch(0, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "by hand"}, event.BranchStarted{Branch: 1, Why: event.ForSubagent},
		event.BranchStarted{Branch: 2, Why: event.ForSubagent}, event.TaskStarted{ID: 4, Kind: event.ShellTask})
	branch(1, agent(2, 1, false), event.TaskFinished{ID: 2, Outcome: event.Completed})
	branch(2, agent(3, 1, true), event.TaskFinished{ID: 3, Outcome: event.Completed})
	check("while the prompt runs", "4", "1", "2+", "3+")
	if v.Rows(60) != 2 {
		t.Errorf("%d rows show, want the shell's and that of the agent in the background", v.Rows(60))
	}
	v.Visit(true)
	if v.Rows(60) != 4 {
		t.Errorf("%d rows show to who is there, want all 4", v.Rows(60))
	}
	v.Visit(false)
	check("seen while the prompt runs", "4", "1", "2+", "3+")
	branch(0, event.TaskFinished{ID: 1, Outcome: event.Failed})
	check("after the prompt", "4", "3")
	branch(0, event.TaskFinished{ID: 4, Outcome: event.Completed}, event.TaskStarted{ID: 5, Kind: event.CompactionTask}, event.TaskFinished{ID: 5})
	v.Visit(false)
	check("not looked at", "3", "4")
	v.Visit(true)
	check("looked at", "3", "4")
	v.Visit(false)
	if v.Rows(60) != 0 {
		t.Errorf("%d rows are left at once", v.Rows(60))
	}
	check("seen")
	branch(0, event.TaskStarted{ID: 6, Kind: event.ShellTask}, event.TaskFinished{ID: 6, Outcome: event.Completed}, event.TaskStarted{ID: 7, Kind: event.MainTask, Title: "under way"},
		event.BranchStarted{Branch: 3, Why: event.ForSubagent}, event.TaskStarted{ID: 9, Kind: event.ShellTask})
	branch(3, agent(8, 7, false))
	branch(0, event.SessionResumed{Interrupted: true})
	check("after a kill", "8", "9") // 6 is of an earlier process
	if screen := viewtest.Text(t, v, 60, 5); !strings.Contains(screen, "⊘ #8 explore  interrupted") {
		t.Errorf("nobody cancelled what ended with its process\n%s", screen)
	}
	branch(0, event.SessionResumed{}, event.TaskStarted{ID: 9, Kind: event.ShellTask}, event.TaskFinished{ID: 9, Outcome: event.Completed})
	check("ended in the process after that", "9")
}

// A running workflow task has its steps below; selecting them selects the task.
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
	if v.Update(&s.State, state.Everything); v.Rows(60) != 0 {
		t.Errorf("%d rows are left of a run that has ended", v.Rows(60))
	}
}

// A loop is listed with its runs and the next one. While nothing else runs, it is not the main task, the status line
// draws nothing again, and the loop is cancelled as any task.
func TestTasksShowALoop(t *testing.T) {
	s := &viewtest.Session{Now: 1000}
	s.Feed(event.TaskStarted{ID: 1, Kind: event.LoopTask, Title: "check\x1b[31m", Deadline: 9_000_000}, event.TaskProgress{ID: 1, Text: "2 runs, next 15:04"})
	v, l := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock), NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	v.Update(&s.State, state.Everything)
	l.Update(&s.State, state.Everything)
	if text := viewtest.Text(t, v, 60, 3); !strings.Contains(text, "↻ #1 loop     check") || !strings.Contains(text, "2 runs, next 15:04 │") || !strings.Contains(text, "/kill 1 stops #1") {
		t.Error(text)
	}
	if l.Busy() || s.Running() != nil {
		t.Errorf("busy %v, main task %v", l.Busy(), s.Running())
	}
	cancelled := 0
	v.OnCancel = func(id int) { cancelled = id }
	v.Focus(nil)
	if viewtest.Press(t, v, "task-cancel"); cancelled != 1 {
		t.Errorf("task %d is cancelled", cancelled)
	}
	s.Feed(event.TaskFinished{ID: 1, Outcome: event.Cancelled})
	v.Update(&s.State, state.Everything)
	if text := viewtest.Text(t, v, 60, 3); !strings.Contains(text, "⊘ #1 loop     cancelled · check") {
		t.Error(text)
	}
}
