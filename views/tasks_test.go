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
