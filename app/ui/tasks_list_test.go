package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/show"
)

// TestListOfTasks: the list follows the running tasks, asks before stopping one, and accepts a typed argument.
func TestListOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(event.PromptSubmitted{ID: 1, Text: "go"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "go"})
		row := show.Row{ID: "1", Cells: []string{"#1 go", "your prompt", "2s", ""}, Title: "Stop this task?", More: []string{"go"}, Deeds: []show.Deed{
			{Label: "stop it", Run: []string{"kill", "1"}}, {Label: "say when", Run: []string{"timeout"}, Typed: true, Edit: "5m"},
		}}
		list := show.List{Title: "Running", Columns: []string{"task", "kind", "time", "state"}, Changes: true, Numbered: true, Empty: "Nothing is running.", Rows: []show.Row{row}}
		x.lists = map[string]show.List{"ps": list}
		x.Type("/ps\n")
		x.Want("Running", "#1 go", "your prompt")
		x.Press("Enter")
		x.Want("Stop this task?", "1  stop it", "2  say when")
		x.didRun()
		x.decide("1")
		x.wantSent(event.Cancel{Task: 1})
		x.Press("Enter")
		x.decide("2")
		x.Want("timeout:", "5m")
		x.Press("Backspace")
		x.Type("0s\n")
		x.wantSent(event.SetTimeout{Duration: 50 * time.Second})
		list.Rows = nil
		x.lists["ps"] = list
		x.feed(event.TaskFinished{ID: 1, Outcome: event.Cancelled})
		x.Want("Nothing is running.")
	})
}
