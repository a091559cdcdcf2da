package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/texts"
)

// listedTask is a task as a row of the list of what runs.
type listedTask struct {
	id  int
	row string
}

// kindWords say what tasks are, for people.
var kindWords = map[event.TaskKind]string{
	event.MainTask: "your prompt", event.BackgroundTask: "fork", event.ShellTask: "background command",
	event.SubagentTask: "subagent", event.CompactionTask: "compaction",
}

// listTask returns the row of a task; facts say what is special about it, "" for nothing.
func listTask(id int, kind event.TaskKind, title string, runs time.Duration, facts ...string) listedTask {
	facts = slices.DeleteFunc(slices.Insert(facts, 0, kindWords[kind], runs.Round(time.Second).String()), func(f string) bool { return f == "" })
	return listedTask{id, fmt.Sprintf("#%d  %s  (%s)", id, title, strings.Join(facts, ", "))}
}

// listTasks lists what runs, how to stop it, and the prompts that wait.
func (r *Runtime) listTasks() string {
	all := append(r.tasks.list(func(task int) string { return waitsFor(r, task) }), r.shells.list()...)
	head := "Nothing is running."
	switch {
	case len(all) == 1:
		head = fmt.Sprintf("1 task is running · /kill %d stops it", all[0].id)
	case len(all) > 1:
		head = texts.Plural(len(all), "task") + " are running · /kill NUMBER stops one"
	}
	lines := []string{head}
	for _, t := range all {
		lines = append(lines, "  "+t.row)
	}
	for _, p := range r.tasks.tree.Main().Queue() {
		lines = append(lines, "  queued: "+cut(p.Text))
	}
	return strings.Join(lines, "\n")
}

// waitsFor says which decision of the person a task waits for, "" for none.
func waitsFor(r *Runtime, task int) string {
	switch {
	case r.approvals.Waits(task):
		return "waiting for your approval"
	case r.questions.Waits(task):
		return "waiting for your answer"
	}
	return ""
}

// list returns the running tasks. waits says which decision of the person a task waits for.
func (s *tasks) list(waits func(task int) string) []listedTask {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.now()
	var all []listedTask
	for _, t := range s.busy() {
		all = append(all, listTask(t.id, t.kind, t.title, now.Sub(t.began), cmp.Or(stopping(t.cancelling), waits(t.id)), t.limit.left(now)))
	}
	return all
}

// list returns the commands in the background that run.
func (s *shells) list() []listedTask {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var all []listedTask
	for _, id := range slices.Sorted(maps.Keys(s.running)) {
		w := s.running[id]
		all = append(all, listTask(id, event.ShellTask, cut(w.Title), now.Sub(w.began), strings.TrimSpace(onTarget(w.Pane)), stopping(w.cancelling), w.limit.left(now)))
	}
	return all
}

// stopping says that a task was told to stop, "" that it was not.
func stopping(told bool) string {
	if told {
		return "stopping"
	}
	return ""
}
