package ui

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/layout"
)

func TestTaskKeys(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "out"), "listening on :3000\n")
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(event.TaskStarted{ID: 1, Kind: event.BackgroundTask, Title: "why"},
			event.TurnFinished{Usage: &model.Usage{Prompt: 1000, Completion: 50}, Cost: 1500},
			event.TurnFinished{Usage: &model.Usage{Prompt: 2000, Completion: 70}, Cost: 1500},
			event.TaskFinished{ID: 1, Outcome: event.Completed},
			event.PaneOpened{Pane: "%2", Title: "server", Target: "local", Attach: "tmux attach"},
			event.TaskStarted{ID: 2, Kind: event.ShellTask, Title: "npm run dev", Pane: "%2", Dir: dir, Deadline: time.Now().Add(time.Hour).UnixMilli()})
		x.u.arranged.setFocus(layout.Tasks)
		x.Press("t")
		x.Want("Time limit for task #2", "Cancel the task after")
		x.Type("soon\n")
		x.Want("\"soon\" is not a time")
		x.Press("Ctrl+U")
		x.Type("10")
		x.Paste("m")
		x.Press("Enter")
		x.wantSent(event.SetTimeout{Task: 2, Duration: 10 * time.Minute})
		x.unwanted("Time limit")
		x.Press("t", "Esc")
		x.Want("#1")
		x.Press("Enter")
		x.Want("Task #2", "what      npm run dev", "state     running", "deadline", "pane      server on local", "── output ──", "listening on :3000")
		x.Press("q", "j", "Enter")
		x.Want("Task #1", "state     completed", "used      2 turns, 3000 tokens in, 120 out", "cost")
		x.Press("Esc", "t") // it has ended
		x.unwanted("Time limit")
		x.wantSent()
	})
}
