package commands

import (
	"testing"
	"time"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/app/show"
	"buddy/tools"
)

// TestTaskRows: a task has the number that /kill takes, for how long it has run, what it waits for and what can be done
// with it.
func TestTaskRows(t *testing.T) {
	now := time.Now()
	list := show.List{Title: "Running", Numbered: true}
	for _, task := range []agent.RunningTask{
		{ID: 1, Kind: event.MainTask, Title: "go on", State: "waiting for your approval", Began: now.Add(-50 * time.Second), Until: now.Add(10 * time.Second)},
		{ID: 3, Kind: event.ShellTask, Title: "npm run dev", State: "stopping", Pane: tools.PaneOf("web") + "%4", Began: now},
		{ID: 12, Kind: event.SubagentTask, Title: "look", Began: now},
	} {
		list.Rows = append(list.Rows, taskRow(task, now))
	}
	want := `Running:
   #1 go on        your prompt                50s  waiting for your approval, time limit in 10s
   #3 npm run dev  background command on web  0s   stopping
   #12 look        subagent                   0s`
	if got := (show.Answer{List: &list}).String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for i, want := range []string{"kill 1", "kill 3", "kill 12"} {
		if d := list.Rows[i].Deeds[0]; textOf(d.Run) != want || len(list.Rows[i].More) == 0 {
			t.Errorf("%+v", list.Rows[i])
		}
	}
	if d := list.Rows[2].Deeds[1]; textOf(d.Run) != "output #12" || !d.Closes {
		t.Errorf("%+v", d)
	}
}
