package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/hooks"
	"buddy/agent/stream"
	"buddy/tools"
)

// shells follows background commands, which keep running after the call that started them. Each is a task. Its lock
// is taken before those of the conversations.
type shells struct {
	life    *life
	now     func() time.Time
	stream  *stream.Stream
	tree    *conversation.Tree
	numbers *numbers

	mu      sync.Mutex // guards running
	running map[int]*shellTask
}

// shellTask is a background command. The lock of shells guards limit and cancelling.
type shellTask struct {
	tools.Task
	conv       *conversation.Conversation // gets a line about its end
	began      time.Time
	limit      deadline
	cancelling bool // stop was requested
	timedOut   bool // because its time limit is over
}

// Begin turns the background work of a call into a task.
func (s *shells) Begin(conv *conversation.Conversation, w tools.Task) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.numbers.nextTask()
	s.stream.Publish(id, 0, event.TaskStarted{ID: id, Kind: event.ShellTask, Title: cut(w.Title), Pane: w.Pane, Dir: w.Dir})
	s.follow(id, conv, w)
	return id
}

// follow waits for the end of a command that is already a task. If the runtime closes first, the command keeps
// running in its pane, and the next process follows it. The caller holds s.mu.
func (s *shells) follow(id int, conv *conversation.Conversation, w tools.Task) {
	if s.life.ended() {
		return
	}
	s.running[id] = &shellTask{Task: w, conv: conv, began: s.now()}
	s.life.work.Go(func() {
		select {
		case <-w.Done:
			s.ended(id, w.End())
		case <-s.life.ctx.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			s.running[id].limit.clear()
		}
	})
}

// ended reports the end of a command, to the person at once and to the model with its next request. The line for the
// model leaves out the output, which may be long and must not be read as a person's words.
func (s *shells) ended(id int, end tools.TaskEnd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.running[id]
	if w == nil {
		return
	}
	finished := event.TaskFinished{ID: id, Outcome: event.Completed}
	how := fmt.Sprintf("ended with exit code %d", end.ExitCode)
	switch {
	case end.Err != nil:
		how = "is lost, its outcome is unknown"
		finished.Outcome, finished.Error = event.Failed, end.Err.Error()
	case end.Cancelled:
		how, finished.Outcome = "was cancelled", event.Cancelled
		if w.timedOut {
			how = "timed out, because the user's time limit for it is over"
		}
	case end.ExitCode != 0:
		finished.Outcome, finished.Error = event.Failed, fmt.Sprintf("exit code %d", end.ExitCode)
	}
	delete(s.running, id)
	w.limit.clear()
	conv := w.conv
	if s.tree.At(conv.Branch()) != conv {
		conv = s.tree.Main() // the other conversation has ended
	}
	conv.Announce(fmt.Sprintf("Task %d, which run_shell left running, %s. task_output shows its output.", id, how))
	s.stream.Publish(id, 0, finished)
}

// stop ends a background command; false means that there is no such task.
func (s *shells) stop(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.running[id]
	if w == nil {
		return false
	}
	s.end(id, w)
	return true
}

// end requests the end of a command. The caller holds s.mu.
func (s *shells) end(id int, w *shellTask) {
	w.limit.clear()
	w.cancelling = true
	s.stream.Publish(id, 0, event.TaskCancelling{ID: id})
	w.Stop()
}

// EndBackground ends the background commands because the person leaves, and waits until they have ended or ctx ends.
// A notice lists them for the person who resumes the session.
func EndBackground(ctx context.Context, r *Runtime) {
	for _, ended := range r.shells.endAll() {
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// endAll requests the end of all commands, and returns a channel for each that is closed at its end.
func (s *shells) endAll() (ends []<-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, id := range slices.Sorted(maps.Keys(s.running)) {
		names = append(names, fmt.Sprintf("#%d %s", id, cut(s.running[id].Title)))
	}
	if n := len(names) - maxNamed; n > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", n))
	}
	if len(names) > 0 {
		s.stream.Publish(0, 0, event.Notice{Text: "ended when you left: " + strings.Join(names, ", "), Code: "left"})
	}
	for id, w := range s.running {
		s.end(id, w)
		ends = append(ends, w.Done)
	}
	return ends
}

// runShell is the tool whose commands may outlive the process.
const runShell = "run_shell"

// reviver is a tool whose background work outlives the process.
type reviver interface {
	// Revive follows a task that an earlier process started; id is the number of the task.
	Revive(ctx context.Context, id int, was tools.Task) (tools.Task, error)
}

// revive resumes following the commands that an earlier process left running. It uses the offered tools.
func (s *shells) revive(open map[int]event.TaskStarted, offered *tools.Registry) {
	tool, err := offered.Lookup(runShell)
	rev, ok := tool.(reviver)
	for _, id := range slices.Sorted(maps.Keys(open)) {
		was := open[id]
		if err != nil || !ok {
			s.stream.Publish(id, 0, event.TaskFinished{ID: id, Outcome: event.Failed, Error: errUnknownEnd})
			continue
		}
		s.life.work.Go(func() {
			w, err := rev.Revive(s.life.ctx, id, tools.Task{Title: was.Title, Pane: was.Pane, Dir: was.Dir})
			s.mu.Lock()
			defer s.mu.Unlock()
			switch {
			case s.life.ended():
			case err != nil:
				s.tree.Main().Announce(fmt.Sprintf("Task %d is lost: %s.", id, errUnknownEnd))
				s.stream.Publish(id, 0, event.TaskFinished{ID: id, Outcome: event.Failed, Error: errUnknownEnd})
			default: // replay treated the task as ended
				s.stream.Publish(id, 0, event.TaskStarted{ID: id, Kind: event.ShellTask, Title: was.Title, Pane: w.Pane, Dir: was.Dir, Deadline: was.Deadline})
				s.follow(id, s.tree.Main(), w)
				if was.Deadline > 0 {
					s.expireAt(id, time.UnixMilli(was.Deadline))
				}
			}
		})
	}
}

// adopt turns a subagent's command, which an earlier process left running, into tasks of the main agent, one per
// target, and follows them with the offered tools. It returns the tasks' names for the model; "" if the call is not a
// command that can be followed.
func (s *shells) adopt(began event.ToolStarted, act action.Action, offered *tools.Registry) string {
	if began.Name != runShell || began.Dir == "" {
		return ""
	}
	open, names := make(map[int]event.TaskStarted), []string(nil)
	add := func(pane, dir string) {
		id := s.numbers.nextTask()
		open[id] = event.TaskStarted{ID: id, Kind: event.ShellTask, Title: cut(act.Command), Pane: pane, Dir: dir}
		s.stream.Publish(id, 0, open[id]) // before it is found, so that a crash now does not lose it
		names = append(names, fmt.Sprintf("task %d", id))
	}
	for _, t := range act.Targets {
		add(tools.PaneOf(t.Target), filepath.Join(began.Dir, t.Target))
	}
	if len(act.Targets) == 0 {
		add(cmp.Or(began.Pane, tools.PaneOf(act.Target)), began.Dir)
	}
	s.revive(open, offered)
	return strings.Join(names, ", ")
}

const errUnknownEnd = "buddy ended while it ran; its outcome is unknown"

// others returns the background commands and agents, except one task, in the form that hooks get.
func (r *Runtime) others(task int) []hooks.BackgroundTask {
	all := []hooks.BackgroundTask{}
	for _, t := range WorkOf(r).Running {
		if t.Aside && t.ID != task {
			kind := map[bool]string{true: "shell", false: "agent"}[t.Kind == event.ShellTask]
			all = append(all, hooks.BackgroundTask{ID: strconv.Itoa(t.ID), Type: kind, Status: "running", Description: t.Title, Command: t.Line})
		}
	}
	return all
}
