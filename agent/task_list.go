package agent

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"buddy/agent/event"
)

// RunningTask describes a running task.
type RunningTask struct {
	ID    int
	Kind  event.TaskKind
	Title string
	State string // such as "waiting for your approval" or "stopping"; "" is normal
	Pane  string // of a background command
	Line  string // the background command
	Began time.Time
	Until time.Time // time limit; zero: none
	Aside bool      // the main conversation does not wait for it
}

// Work holds the running tasks and queued prompts of a session.
type Work struct {
	Running []RunningTask
	Queued  []event.PromptSubmitted
}

// WorkOf returns the running work. Any goroutine may call it, even while a task runs.
func WorkOf(r *Runtime) Work {
	return Work{append(r.tasks.list(func(task int) string { return waitsFor(r, task) }), r.shells.list()...), r.tasks.tree.Main().Queue()}
}

// waitsFor describes the person's decision that a task waits for, "" for none.
func waitsFor(r *Runtime, task int) string {
	switch {
	case r.approvals.Waits(task):
		return "waiting for your approval"
	case r.questions.Waits(task):
		return "waiting for your answer"
	}
	return ""
}

// list returns the running tasks. waits describes the person's decision that a task waits for.
func (s *tasks) list(waits func(task int) string) (all []RunningTask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.busy() {
		all = append(all, RunningTask{ID: t.id, Kind: t.kind, Title: t.title, State: cmp.Or(stopping(t.cancelling), waits(t.id)), Began: t.began, Until: t.limit.at, Aside: t.kind == event.BackgroundTask || t.on.agent != nil && t.on.agent.background})
	}
	if s.repeats != nil {
		all = append(all, s.repeats.row())
	}
	return all
}

func (s *shells) list() (all []RunningTask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.running)) {
		w := s.running[id]
		all = append(all, RunningTask{ID: id, Kind: event.ShellTask, Title: cut(w.Title), State: stopping(w.cancelling), Pane: w.Pane, Line: w.Title, Aside: true, Began: w.began, Until: w.limit.at})
	}
	return all
}

// stopping returns the state of a task that is being cancelled, otherwise "".
func stopping(cancelling bool) string {
	if cancelling {
		return "stopping"
	}
	return ""
}
