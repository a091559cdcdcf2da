package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/agent/turn"
)

// deadline cancels a task at a given time; the zero value never cancels it. The lock of the task guards it.
type deadline struct {
	timer *time.Timer
	at    time.Time
}

// set makes a timer call expire at the given time, on a separate goroutine. It replaces an earlier deadline.
func (d *deadline) set(now, at time.Time, expire func()) {
	d.clear()
	d.at, d.timer = at, time.AfterFunc(at.Sub(now), expire)
}

// clear removes the deadline. An expire function that already runs is not stopped.
func (d *deadline) clear() {
	if d.timer != nil {
		d.timer.Stop()
	}
	*d = deadline{}
}

// setTimeout gives a task a deadline, which replaces an earlier one. Task 0 means the only running task.
func setTimeout(r *Runtime, c event.SetTimeout) {
	if c.Duration <= 0 {
		r.reject("%v is not a valid time limit (have: more than 0)", c.Duration)
		return
	}
	running := runningIDs(r)
	switch {
	case len(running) == 0:
		r.reject("nothing is running")
		return
	case c.Task == 0 && len(running) > 1:
		r.reject("%d tasks are running: name one (have: %s)", len(running), numbered(running))
		return
	case c.Task == 0:
		c.Task = running[0]
	}
	at := r.opts.Now().Add(c.Duration)
	if !r.tasks.expireAt(c.Task, at) && !r.shells.limit(c.Task, at) {
		r.reject("task %d is not running", c.Task)
	}
}

// runningIDs returns the sorted numbers of all running tasks.
func runningIDs(r *Runtime) (all []int) {
	for _, t := range WorkOf(r).Running {
		all = append(all, t.ID)
	}
	slices.Sort(all)
	return all
}

// numbered formats task numbers: "#1, #3".
func numbered(ids []int) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = fmt.Sprintf("#%d", id)
	}
	return strings.Join(all, ", ")
}

// expireAt gives a task a deadline, and reports whether the task is running.
func (s *tasks) expireAt(id int, at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.repeats; l != nil && l.id == id {
		l.expireAt(at)
		s.stream.Publish(id, 0, event.TaskDeadline{ID: id, Deadline: at.UnixMilli()})
		return true
	}
	i := slices.IndexFunc(s.busy(), func(t *task) bool { return t.id == id })
	if i < 0 {
		return false
	}
	t := s.busy()[i]
	if t.cancelling {
		s.stream.Reject(alreadyCancelled, id)
		return true
	}
	t.limit.set(s.clock.now(), at, func() { s.expire(t, at) })
	s.stream.Publish(id, 0, event.TaskDeadline{ID: id, Deadline: at.UnixMilli()})
	return true
}

const alreadyCancelled = "task %d is already being cancelled"

func (s *tasks) expire(t *task, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.on.task != t || !t.limit.at.Equal(at) { // it has ended, or has another deadline now
		return
	}
	s.stream.Publish(t.id, 0, expired(t.id))
	s.stop(t, fmt.Errorf("%w: %w", ErrCancelled, turn.ErrTimedOut))
}

// expired returns the notice about a task cancelled at its deadline.
func expired(task int) event.Notice {
	return event.Notice{Text: fmt.Sprintf("the time limit of task #%d is over: buddy cancelled it", task), Code: "timeout"}
}

// limit gives a background command a deadline, and reports whether the command is running.
func (s *shells) limit(id int, at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.running[id]
	switch {
	case w == nil:
		return false
	case w.cancelling:
		s.stream.Reject(alreadyCancelled, id)
		return true
	}
	s.expireAt(id, at)
	s.stream.Publish(id, 0, event.TaskDeadline{ID: id, Deadline: at.UnixMilli()})
	return true
}

// expireAt cancels a command at the given time, unless the command has ended by then. The caller holds s.mu.
func (s *shells) expireAt(id int, at time.Time) {
	w := s.running[id]
	if w == nil { // the session ends
		return
	}
	w.limit.set(s.now(), at, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[id] == w && w.limit.at.Equal(at) { // otherwise it has ended, or has another deadline
			s.stream.Publish(id, 0, expired(id))
			w.timedOut = true
			s.end(id, w)
		}
	})
}
