package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/tools"
)

func init() {
	add(slash.Command{
		Name: "ps", Means: []string{"tasks", "jobs", "running"}, Brief: "list running and queued work", Help: "list running tasks and queued prompts, or stop a task",
	}, listTasks)
}

// taskKinds names the kinds of tasks.
var taskKinds = map[event.TaskKind]string{
	event.MainTask: "your prompt", event.BackgroundTask: "fork", event.ShellTask: "background command",
	event.SubagentTask: "subagent", event.CompactionTask: "compaction", event.LoopTask: "loop",
}

// listTasks lists the running tasks and the queued prompts.
func listTasks(ctx context.Context, s *Session, _ []string) (show.Answer, error) {
	work, err := ask(ctx, s, agent.WorkOf)
	list := show.List{Title: "Running", Columns: []string{"task", "kind", "time", "state"}, Empty: "Nothing is running.", Changes: true, Numbered: true}
	if len(work.Running) > 0 {
		list.Usage = "/kill NUMBER stops a task."
	}
	for _, t := range work.Running {
		list.Rows = append(list.Rows, taskRow(t, time.Now()))
	}
	for _, p := range work.Queued {
		list.Rows = append(list.Rows, show.Row{ID: fmt.Sprint("prompt ", p.ID), Cells: []string{p.Text, "your prompt", "", "queued"}, Line: "buddy sends it when the agent is done."})
	}
	return show.Answer{List: &list}, err
}

// taskRow returns the list row of a running task, with its actions.
func taskRow(t agent.RunningTask, now time.Time) show.Row {
	id := strconv.Itoa(t.ID)
	var state []string
	if t.State != "" {
		state = append(state, t.State)
	}
	if !t.Until.IsZero() {
		state = append(state, fmt.Sprintf("time limit in %v", max(0, t.Until.Sub(now)).Round(time.Second)))
	}
	r := show.Row{
		ID: id, Cells: []string{"#" + id + " " + t.Title, taskKinds[t.Kind], now.Sub(t.Began).Round(time.Second).String(), strings.Join(state, ", ")},
		Title: "Stop this task?", More: []string{t.Title, taskKinds[t.Kind] + ", started at " + t.Began.Format("15:04:05")},
		Deeds: []show.Deed{{Label: "stop it", Run: []string{"kill", id}}},
	}
	if t.Kind == event.SubagentTask {
		r.Deeds = append(r.Deeds, show.Deed{Label: "show its output", Run: []string{"output", "#" + id}, Closes: true})
	}
	if on := tools.ParsePane(t.Pane).Target; on != "" {
		r.Cells[1] += " on " + on
	}
	return r
}
