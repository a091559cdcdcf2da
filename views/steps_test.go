package views

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/viewtest"
)

// planned returns a list of n steps: the first ones are done, and the next one is being worked on.
func planned(n, done int) event.Event {
	var b strings.Builder
	for i := range n {
		sign := "[ ]"
		if i < done {
			sign = "[x]"
		} else if i == done {
			sign = "[>]"
		}
		fmt.Fprintf(&b, "%s step number %d of them\n", sign, i+1)
	}
	return event.ToolResult{Name: "todo", Tail: b.String()}
}

// Steps are shown in one row if they fit, else in rows around the current one, with the number of omitted ones, below
// running tasks.
func TestStepsShowBelowTasks(t *testing.T) {
	short := event.ToolResult{Name: "todo", Tail: "[x] reproduce\n[>] fix\n[ ] run all\n"}
	for _, tt := range []struct {
		name  string
		steps event.Event
		w, h  int
	}{
		{"steps-one-row", short, 58, 5},
		{"steps-some", planned(3, 1), 40, 8},
		{"steps-cut", planned(12, 5), 40, 8},
		{"steps-low", planned(12, 5), 40, 4},
		{"steps-long", event.ToolResult{Name: "todo", Tail: "[>] " + strings.Repeat("very long ", 40) + "\n[ ] \x1b[31mred\u202e\n"}, 40, 6},
	} {
		var s state.State
		viewtest.Feed(&s, event.TaskStarted{ID: 1, Kind: event.ShellTask, Title: "before"}, event.TaskFinished{ID: 1, Outcome: event.Completed},
			event.TaskStarted{ID: 2, Kind: event.MainTask, Title: "taxes"}, tt.steps)
		v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
		v.Update(&s, state.Everything)
		viewtest.Golden(t, tt.name, v, tt.w, tt.h)
	}
}

// Running tasks keep their rows; a list gets at least half of all rows.
func TestStepsLeaveRowsToTasks(t *testing.T) {
	var s state.State
	for id := range 6 {
		viewtest.Feed(&s, event.TaskStarted{ID: id + 1, Kind: event.ShellTask, Title: "server"})
	}
	viewtest.Feed(&s, planned(12, 5))
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	v.Update(&s, state.Everything)
	if got := v.Rows(40); got != 6+13 {
		t.Errorf("%d rows are wanted", got)
	}
	for h, want := range map[int]int{1: 0, 2: 1, 4: 2, 10: 5, 13: 7, 40: 13} {
		shown := viewtest.Text(t, v, 40, h+2)
		rows := strings.Count(shown, "step number")
		if strings.Contains(shown, "plan 5/12") && h > 2 {
			rows++
		}
		if tasks := strings.Count(shown, "server"); rows != want || tasks != min(h-want, 6) {
			t.Errorf("%d rows: %d of steps, %d of tasks, want %d:\n%s", h, rows, tasks, want, shown)
		}
	}
}

// Without a list the status line shows the current step while the task runs.
func TestStatusSaysTheStep(t *testing.T) {
	var s state.State
	viewtest.Feed(&s, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "taxes"}, planned(12, 5))
	v := NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	for _, bare := range []bool{true, false} {
		v.SetHidden(Hidden{Steps: bare})
		v.Update(&s, state.Everything)
		if got := strings.Contains(viewtest.Text(t, v, 100, 1), "· plan 5/12 step number 6 of them"); got != bare {
			t.Errorf("bare %v: %s", bare, viewtest.Text(t, v, 100, 1))
		}
	}
	viewtest.Feed(&s, event.TaskFinished{ID: 1, Outcome: event.Completed})
	v.SetHidden(Hidden{Steps: true})
	v.Update(&s, state.Everything)
	if got := viewtest.Text(t, v, 100, 1); strings.Contains(got, "plan") {
		t.Errorf("nothing runs: %s", got)
	}
}
