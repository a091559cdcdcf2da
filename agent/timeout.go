package agent

import (
	"fmt"
	"time"

	"buddy/agent/event"
)

// setTimeout gives a task a deadline (G12). The last one given counts.
func (r *Runtime) setTimeout(c event.SetTimeout) {
	if c.Duration <= 0 {
		r.reject("%v is no time to end in (have: more than 0)", c.Duration)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var t *task
	busy := r.busy()
	for _, b := range busy {
		if b.id == c.Task || c.Task == 0 && len(busy) == 1 {
			t = b
		}
	}
	switch {
	case len(busy) == 0:
		r.reject("nothing is running")
		return
	case t == nil && c.Task == 0:
		r.reject("%d tasks run: say which one", len(busy))
		return
	case t == nil:
		r.reject("task %d is not running", c.Task)
		return
	}
	if t.limit != nil {
		t.limit.Stop()
	}
	t.limit = time.AfterFunc(c.Duration, func() { r.expire(t, c.Duration) })
	r.emit(t.id, 0, event.TaskDeadline{ID: t.id, Deadline: r.opts.Now().Add(c.Duration).UnixMilli()})
}

// expire cancels a task whose time is over.
func (r *Runtime) expire(t *task, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.talk.task != t { // it has ended meanwhile
		return
	}
	r.emit(t.id, 0, event.Notice{Text: fmt.Sprintf("the time limit of task #%d (%v) is over", t.id, after), Code: "timeout"})
	r.emit(t.id, 0, event.TaskCancelling{ID: t.id})
	t.cancel(ErrCancelled)
}

// longCommand is when a person is told how to end a command that runs (DECISIONS 19).
const longCommand = 60 * time.Second

// remind tells a person, once, that a command takes long. The returned function ends it.
func (r *Runtime) remind(t *task, name string) (stop func()) {
	timer := time.AfterFunc(longCommand, func() {
		r.emit(t.id, 0, event.Notice{
			Text: fmt.Sprintf("%s runs for %v now; it has no time limit (/timeout 5m sets one, /kill ends it)", name, longCommand),
			Code: "long_command",
		})
	})
	return func() { timer.Stop() }
}
