package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/usage"
)

// conversation is one branch of a session: what its model is sent, and the exchange that
// runs on it. Runtime.mu guards it.
type conversation struct {
	branch  int // 0 is the main one
	hist    *history.History
	task    *task // nil: nothing runs
	queue   []event.PromptSubmitted
	pending bool   // an interrupted exchange can be continued
	tainted string // why what the task asks for is trusted less; "" = it is not
	room    room
	shells  map[int]*shellTask      // commands that go on, of all conversations; only in the main one
	ends    []string                // what its model is to be told: of those that have ended, and where it works
	drop    context.CancelCauseFunc // drops the approvals that a resume asks for again; nil: there are none
	target  string                  // that the person switched to last; only in the main one
	date    string                  // that its model was told last; "" = none, or it may be compacted away
}

// task is an exchange that runs.
type task struct {
	id     int
	kind   event.TaskKind
	talk   *conversation
	title  string
	began  time.Time
	cancel context.CancelCauseFunc
	limit  *time.Timer // ends it at its deadline; nil: there is none. r.mu guards it
	progress
}

// progress is how far a task is. Only the loop uses it, but for what r.mu guards.
type progress struct {
	turns     int
	response  string // the text of the last answer
	use       usage.Task
	paused    bool                   // between two steps; r.mu guards it
	ids       map[string]bool        // of calls
	failed    map[string]failed      // calls that failed, by name and arguments; r.mu guards it
	compacted *CompactionOccurred    // that the step did
	given     []given                // results of this turn; r.mu guards it
	shown     []model.Image          // by the tools of this turn; r.mu guards it
	touched   []string               // files, by the tools of this turn; r.mu guards it
	overflows int                    // requests that the provider found too long
	retry     atomic.Pointer[func()] // ends the wait before a request is sent again; nil: there was none
}

// waits notes what ends the wait for a request that is sent again; nil does nothing.
func (t *task) waits(now func()) { t.retry.Store(&now) }

// hurry ends that wait. It reports whether there was a request to wait for, which may have
// been sent already.
func (t *task) hurry() bool {
	now := t.retry.Load()
	if now == nil || *now == nil {
		return false
	}
	(*now)()
	return true
}

// work is what a task does, up to its outcome.
type work = func(context.Context, *task) (event.Outcome, error)

// fork starts a conversation that goes on from where the main one is now. The caller
// holds r.mu.
func (r *Runtime) fork() *conversation {
	r.ids.branch++
	c := &conversation{branch: r.ids.branch, hist: r.main.hist.Clone(), ends: slices.Clone(r.main.ends), date: r.main.date}
	c.hist.Close(inProgress)
	r.branches[c.branch] = c
	return c
}

// inProgress is what a fork reads of the calls that the main conversation waits for.
const inProgress = "still running in the conversation that this one was forked from"

// busy returns the tasks that run, by id. The caller holds r.mu.
func (r *Runtime) busy() []*task {
	var all []*task
	if r.main.task != nil {
		all = append(all, r.main.task)
	}
	for _, c := range r.branches {
		if c.task != nil {
			all = append(all, c.task)
		}
	}
	slices.SortFunc(all, func(a, b *task) int { return a.id - b.id })
	return all
}

// startTask runs work on a conversation, which prompts open. The caller holds r.mu.
func (r *Runtime) startTask(c *conversation, kind event.TaskKind, prompts []event.PromptSubmitted, work work) {
	ctx, t := r.openTask(r.ctx, c, kind, prompts)
	go func() { _, _ = r.runTask(ctx, t, work) }() // its events say how it ended
}

// openTask makes a task, which ends when ctx or the runtime does; endTask must follow.
// The caller holds r.mu.
func (r *Runtime) openTask(ctx context.Context, c *conversation, kind event.TaskKind, prompts []event.PromptSubmitted) (context.Context, *task) {
	r.ids.task++
	working, cancel := context.WithCancelCause(r.ctx)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	title := "go on"
	switch {
	case len(prompts) > 0:
		title = prompts[0].Text
		c.tainted = ""
	case kind == event.CompactionTask:
		title = "make room in the context"
	}
	t := &task{
		id: r.ids.task, kind: kind, talk: c, title: cut(title), began: r.opts.Now(),
		progress: progress{ids: make(map[string]bool), failed: make(map[string]failed)},
	}
	t.cancel = func(cause error) {
		stop()
		cancel(cause)
	}
	r.stream.Bind(t.id, c.branch)
	c.task, c.pending = t, false
	for _, p := range prompts {
		r.enter(c, t.id, p, cmp.Or(p.Kind, event.Opening))
	}
	r.emit(t.id, 0, event.TaskStarted{ID: t.id, Kind: kind, Title: t.title})
	r.done.Add(1)
	return working, t
}

// enter puts what a person said into a conversation. The caller holds r.mu.
func (r *Runtime) enter(c *conversation, task int, p event.PromptSubmitted, kind event.PromptKind) {
	p.Queued, p.Kind = false, kind
	if kind == event.Opening {
		p.Date = r.today(c)
		c.date = cmp.Or(p.Date, c.date)
	}
	c.hist.Tell(messageKind(kind), promptText(p), p.Images...)
	r.emit(task, 0, p)
}

// attach tells the model of a task something beside the prompts. The caller holds r.mu.
func (r *Runtime) attach(c *conversation, task, turn int, e event.ReminderAttached) {
	c.hist.Tell(model.Reminder, e.Text, e.Images...)
	r.emit(task, turn, e)
}

// messageKind is what a model reads a person's words as.
func messageKind(k event.PromptKind) model.Kind {
	switch k {
	case event.Steering:
		return model.Steering
	case event.Typed:
		return model.Reminder
	}
	return model.Prompt
}

func (r *Runtime) runTask(ctx context.Context, t *task, work work) (Result, error) {
	outcome, err := r.guard(ctx, t, work)
	return r.endTask(ctx, t, outcome, err)
}

// endTask emits the task's last event and starts the next prompt that waits.
func (r *Runtime) endTask(ctx context.Context, t *task, outcome event.Outcome, err error) (Result, error) {
	defer r.done.Done()
	defer t.cancel(nil)
	r.approvals.DenyTask(t.id)
	finished := event.TaskFinished{ID: t.id, Outcome: outcome}
	if err != nil {
		finished.Error = err.Error()
		r.emit(t.id, 0, event.Error{Text: err.Error(), Code: "task_failed", Task: t.id})
	}
	if outcome == event.Cancelled && ctx.Err() != nil {
		r.emit(t.id, 0, event.Interrupted{Task: t.id, Text: history.Unanswered})
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	c := t.talk
	res := Result{Response: t.response, Messages: slices.Clone(c.hist.Messages()), Usage: r.ledger.Total(&t.use), Turns: t.turns, Outcome: outcome}
	r.emit(t.id, 0, finished)
	r.stream.Bind(t.id, 0)
	if t.limit != nil {
		t.limit.Stop()
	}
	c.task = nil
	if outcome == event.MaxTurns && c.branch == 0 { // nobody could continue another one
		c.pending = true
	}
	if c.branch != 0 {
		delete(r.branches, c.branch)
	}
	if outcome == event.Completed && t.kind == event.MainTask && r.ctx.Err() == nil {
		r.entitle(t)
	}
	switch {
	case r.ctx.Err() != nil:
	case c.room.asked && c.branch == 0:
		r.startTask(c, event.CompactionTask, nil, r.compaction)
	case len(c.queue) > 0:
		p := c.queue[0]
		c.queue = c.queue[1:]
		r.startTask(c, event.MainTask, []event.PromptSubmitted{p}, r.exchange)
	}
	return res, verdict(ctx, outcome, err)
}

// guard turns a panic in work into a failed task.
func (r *Runtime) guard(ctx context.Context, t *task, work work) (outcome event.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			outcome, err = event.Failed, fmt.Errorf("internal error: %v", p)
		}
	}()
	return work(ctx, t)
}
