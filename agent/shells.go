package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/tools"
)

// shellTask is a command that goes on after the call that began it.
type shellTask struct {
	tools.Task
	talk  *conversation // that is told of its end
	began time.Time
}

// begins returns how a call of t makes work that goes on a task of its own.
func (r *Runtime) begins(t *task) func(tools.Task) int {
	return func(w tools.Task) int {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ids.task++
		id := r.ids.task
		r.emit(id, 0, event.TaskStarted{ID: id, Kind: event.ShellTask, Title: cut(w.Title), Pane: w.Pane, Dir: w.Dir})
		r.follow(id, t.talk, w)
		return id
	}
}

// follow waits for the end of a command, which is a task already. When the runtime closes
// meanwhile the command goes on in its pane, and the next process follows it. The caller
// holds r.mu.
func (r *Runtime) follow(id int, talk *conversation, w tools.Task) {
	if r.ctx.Err() != nil {
		return
	}
	r.main.shells[id] = &shellTask{Task: w, talk: talk, began: r.opts.Now()}
	r.done.Go(func() {
		select {
		case <-w.Done:
			r.shellEnded(id, w.End())
		case <-r.ctx.Done():
		}
	})
}

// shellEnded reports the end of a command, to people at once and to the model with its next
// request. What the command printed is not told: it may be long, and it is not to be read
// as somebody's words.
func (r *Runtime) shellEnded(id int, end tools.TaskEnd) {
	finished := event.TaskFinished{ID: id, Outcome: event.Completed}
	how := fmt.Sprintf("ended with exit code %d", end.ExitCode)
	switch {
	case end.Err != nil:
		how = "is lost, its end is not known"
		finished.Outcome, finished.Error = event.Failed, end.Err.Error()
	case end.Cancelled:
		how, finished.Outcome = "was cancelled", event.Cancelled
	case end.ExitCode != 0:
		finished.Outcome, finished.Error = event.Failed, fmt.Sprintf("exit code %d", end.ExitCode)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.main.shells[id]
	if s == nil {
		return
	}
	delete(r.main.shells, id)
	talk := s.talk
	if talk != r.main && r.branches[talk.branch] != talk {
		talk = r.main // that one has ended
	}
	talk.ends = append(talk.ends, fmt.Sprintf("Task %d, which run_shell left running, %s. task_output tells what it printed.", id, how))
	r.emit(id, 0, finished)
}

// toldEnds is the kind of the reminder that tells a conversation's ends.
const toldEnds = "tasks"

// tellEnds lets the model know which commands have ended since its last request.
func (r *Runtime) tellEnds(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := t.talk
	if len(c.ends) == 0 {
		return
	}
	e := event.ReminderAttached{Kinds: []string{toldEnds}, Text: "<system-reminder>" + strings.Join(c.ends, "\n") + "</system-reminder>"}
	c.ends = nil
	r.attach(c, t.id, 0, e)
}

// stopShell ends a command that goes on; false says that there is no such task. The caller
// holds r.mu.
func (r *Runtime) stopShell(id int) bool {
	s := r.main.shells[id]
	if s == nil {
		return false
	}
	r.emit(id, 0, event.TaskCancelling{ID: id})
	s.Stop()
	return true
}

// reviver is a tool whose work outlives us as a task.
type reviver interface {
	// Revive follows the task with a number that an earlier process began.
	Revive(ctx context.Context, id int, was tools.Task) (tools.Task, error)
}

// reviveShells follows the commands again that an earlier process left running. The caller
// holds r.mu.
func (r *Runtime) reviveShells(open map[int]event.TaskStarted) {
	tool, err := r.opts.Tools.Lookup("run_shell")
	rev, ok := tool.(reviver)
	for _, id := range slices.Sorted(maps.Keys(open)) {
		s := open[id]
		if err != nil || !ok {
			r.emit(id, 0, event.TaskFinished{ID: id, Outcome: event.Failed, Error: errUnknownEnd})
			continue
		}
		r.done.Go(func() {
			w, err := rev.Revive(r.ctx, id, tools.Task{Title: s.Title, Pane: s.Pane, Dir: s.Dir})
			r.mu.Lock()
			defer r.mu.Unlock()
			switch {
			case r.ctx.Err() != nil:
			case err != nil:
				r.main.ends = append(r.main.ends, fmt.Sprintf("Task %d is lost: %s.", id, errUnknownEnd))
				r.emit(id, 0, event.TaskFinished{ID: id, Outcome: event.Failed, Error: errUnknownEnd})
			default: // who replayed the session took it for ended
				r.emit(id, 0, event.TaskStarted{ID: id, Kind: event.ShellTask, Title: s.Title, Pane: w.Pane, Dir: s.Dir})
				r.follow(id, r.main, w)
			}
		})
	}
}

const errUnknownEnd = "buddy ended while it ran; its end is not known"
