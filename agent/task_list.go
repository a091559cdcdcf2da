package agent

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"buddy/agent/event"
)

// RunningTask is a task that runs.
type RunningTask struct {
	ID    int
	Kind  event.TaskKind
	Title string
	State string // such as "waiting for your approval" or "stopping"; "" is running
	Pane  string // of a command in the background
	Line  string // such a command
	Began time.Time
	Until time.Time // its time limit; zero: it has none
	Aside bool      // the main conversation does not wait for it
}

// Work holds what runs in a session, and the prompts that wait.
type Work struct {
	Running []RunningTask
	Queued  []event.PromptSubmitted
}

// WorkOf returns what runs. Any goroutine may call it, also while a task runs.
func WorkOf(r *Runtime) Work {
	return Work{append(r.tasks.list(func(task int) string { return waitsFor(r, task) }), r.shells.list()...), r.tasks.tree.Main().Queue()}
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
func (s *tasks) list(waits func(task int) string) (all []RunningTask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.busy() {
		all = append(all, RunningTask{ID: t.id, Kind: t.kind, Title: t.title, State: cmp.Or(stopping(t.cancelling), waits(t.id)), Began: t.began, Until: t.limit.at, Aside: t.kind == event.BackgroundTask || t.on.agent != nil && t.on.agent.background})
	}
	return all
}

// list returns the commands in the background that run.
func (s *shells) list() (all []RunningTask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.running)) {
		w := s.running[id]
		all = append(all, RunningTask{ID: id, Kind: event.ShellTask, Title: cut(w.Title), State: stopping(w.cancelling), Pane: w.Pane, Line: w.Title, Aside: true, Began: w.began, Until: w.limit.at})
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
