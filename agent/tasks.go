package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"buddy/agent/approval"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/agent/selection"
	"buddy/agent/stream"
	"buddy/agent/turn"
	"buddy/agent/undo"
	"buddy/agent/usage"
)

// life ends a session, and waits for its work.
type life struct {
	ctx    context.Context // ends when the runtime closes
	cancel context.CancelFunc
	work   sync.WaitGroup // the command loop, the tasks and background work

	closing atomic.Bool // set before open approvals and questions are denied
}

// ended reports whether the session is ending, so that nothing may start.
func (l *life) ended() bool { return l.ctx.Err() != nil }

// tasks runs the work of a session: at most one task per conversation, while new prompts wait in its queue. Its lock
// is taken before those of the conversations.
type tasks struct {
	life      *life
	clock     clock
	stream    *stream.Stream
	approvals *approval.Broker
	ledger    *usage.Ledger
	selection *selection.Selection
	tree      *conversation.Tree
	loop      *turn.Loop
	titles    *titles
	changes   *undo.Log
	numbers   *numbers
	idleness  idleness // runs while the main conversation has no task

	mu       sync.Mutex // guards the fields below
	main     *branch
	forks    map[int]*branch // forks with running work, by number
	recovery *record.Record  // recovery state of an earlier process until resume; then nil

	agents  *subagentSet
	drivers drivers
	repeats *promptLoop // nil: none
}

// clock provides the time, and the time zone of dates for the model.
type clock struct {
	now   func() time.Time
	dates *time.Location // nil: the model gets no date
}

// branch is a conversation with its running task. tasks.mu guards it.
type branch struct {
	conv    *conversation.Conversation
	room    compact.Room
	task    *task                   // nil: nothing runs
	pending bool                    // an interrupted exchange can be continued
	lost    bool                    // a crash interrupted it
	wanted  bool                    // it continues when its recovery is complete
	drop    context.CancelCauseFunc // drops the approvals that a resume asks for again; may be nil
	agent   *subagentRun            // nil: the main agent's conversation
}

// task is a running exchange.
type task struct {
	id     int
	kind   event.TaskKind
	on     *branch
	title  string
	began  time.Time
	cancel context.CancelCauseFunc
	x      *turn.Exchange
	// tasks.mu guards the fields below.
	limit      deadline
	paused     bool // between two steps
	cancelling bool // stop was requested
}

// work runs a task and returns its outcome.
type work = turn.Work

// busy returns the running tasks, by id. The caller holds s.mu.
func (s *tasks) busy() []*task {
	var all []*task
	if s.main.task != nil {
		all = append(all, s.main.task)
	}
	for _, b := range s.forks {
		if b.task != nil {
			all = append(all, b.task)
		}
	}
	slices.SortFunc(all, func(a, b *task) int { return a.id - b.id })
	return all
}

// idle calls the function do while no task runs or can start, and returns nil. If a task runs, idle returns the first
// one and does not call do.
func (s *tasks) idle(do func()) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if busy := s.busy(); len(busy) > 0 {
		return busy[0]
	}
	do()
	return nil
}

// start runs work on a conversation after adding prompts. The caller holds s.mu.
func (s *tasks) start(b *branch, kind event.TaskKind, prompts []event.PromptSubmitted, do work) {
	ctx, t := s.open(s.life.ctx, b, event.TaskStarted{Kind: kind}, prompts)
	go func() { _, _ = s.run(ctx, t, do) }() // its events report how it ended
}

// startNext starts a task for the oldest queued prompt, unless a task runs. The caller holds s.mu.
func (s *tasks) startNext(b *branch) {
	if b.task != nil || s.life.ended() {
		return
	}
	if p, ok := b.conv.Next(); ok {
		s.start(b, event.MainTask, []event.PromptSubmitted{p}, s.workOn(b))
	}
}

// open creates a task, which is cancelled when ctx or the session ends. The caller holds s.mu and must call end
// later.
func (s *tasks) open(ctx context.Context, b *branch, started event.TaskStarted, prompts []event.PromptSubmitted) (context.Context, *task) {
	working, cancel := context.WithCancelCause(ctx) // a child, so that it is cancelled at once if ctx is
	stop := context.AfterFunc(s.life.ctx, func() { cancel(context.Cause(s.life.ctx)) })
	if len(prompts) > 0 {
		b.conv.Trust()
		if b == s.main {
			s.approvals.BeginPrompt()
		}
	}
	started.ID, started.Title = s.numbers.nextTask(), titleOf(started, prompts)
	t := &task{id: started.ID, kind: started.Kind, on: b, title: started.Title, began: s.clock.now()}
	t.cancel = func(cause error) {
		stop()
		cancel(cause)
	}
	t.x = turn.NewExchange(t.id, b.conv, &b.room, t.cancel)
	t.x.Say(prompts)
	s.stream.Bind(t.id, b.conv.Branch())
	b.task, b.pending, b.lost, b.wanted = t, false, false, false
	if b == s.main {
		s.idleness.end()
	}
	s.changes.Begun(started)
	for _, p := range prompts {
		if b == s.main && p.Kind == "" {
			s.changes.Opened(p)
		}
		b.conv.Enter(t.id, p, cmp.Or(p.Kind, event.Opening), conversation.Today(s.selection.Model().Info(), s.clock.now, s.clock.dates))
	}
	s.stream.Publish(t.id, 0, event.TaskQueued{ID: t.id, Kind: t.kind, Title: t.title})
	s.stream.Publish(t.id, 0, started)
	s.life.work.Add(1)
	return working, t
}

// titleOf returns the title of a task that starts with prompts.
func titleOf(started event.TaskStarted, prompts []event.PromptSubmitted) string {
	switch {
	case started.Title != "":
		return cut(started.Title)
	case len(prompts) > 0:
		return cut(prompts[0].Text)
	case started.Kind == event.CompactionTask:
		return "make room in the context"
	}
	return "continue"
}

// run does the work of an open task, and ends the task.
func (s *tasks) run(ctx context.Context, t *task, do work) (Result, error) {
	outcome, err := guard(ctx, t, do)
	return s.end(ctx, t, outcome, err)
}

// guard turns a panic in work into a failed task.
func guard(ctx context.Context, t *task, do work) (outcome event.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			outcome, err = event.Failed, fmt.Errorf("internal error: %v", p)
		}
	}()
	return do(ctx, t.x)
}

// end publishes the task's last event and starts the next queued prompt.
func (s *tasks) end(ctx context.Context, t *task, outcome event.Outcome, err error) (Result, error) {
	defer s.life.work.Done()
	defer t.cancel(nil)
	s.approvals.DenyTask(t.id)
	if turn.LeaveFallback(s.loop, t.x); outage(err) { // perhaps an outage of the fallback model
		turn.Recall(s.loop)
	}
	finished := event.TaskFinished{ID: t.id, Outcome: outcome}
	if err != nil {
		finished.Error = err.Error()
		s.reportFailure(t, err)
	}
	b, waits := t.on, outcome == event.MaxTurns
	switch {
	case outcome == event.Cancelled && ctx.Err() != nil:
		s.stream.Publish(t.id, 0, event.Interrupted{Task: t.id, Text: "interrupted"})
	case b == s.main && outage(err):
		waits = true
		s.stream.Publish(t.id, 0, event.Interrupted{Task: t.id, Text: interrupted, CanContinue: true})
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	cost, _ := s.ledger.Spent(t.x.Used())
	res := Result{
		Task: t.id, Response: t.x.Response(), Messages: slices.Clone(b.conv.Messages()),
		Usage: s.ledger.Total(t.x.Used()), Cost: cost, Turns: t.x.Turns(), Outcome: outcome,
	}
	s.stream.Publish(t.id, 0, finished)
	s.stream.Bind(t.id, 0)
	t.limit.clear()
	b.task = nil
	switch {
	case b == s.main:
		endRun(s, res)
		again := s.endExchange(t, finished, s.drivers.ended(outcome, err))
		b.pending = b.pending || waits
		s.startFollowing(t, outcome, res.Response, again)
	case b.agent != nil:
		s.agents.unwatch(t)
		s.endBranch(b)
	default:
		s.endBranch(b)
		s.startNext(b)
	}
	return res, verdict(ctx, outcome, res.Turns, err)
}

// endExchange publishes the end of an exchange, unless another task continues it or its recovery waits for a person. It
// reports whether another task has to start; again means that a driver wants one. The caller holds s.mu.
func (s *tasks) endExchange(t *task, end event.TaskFinished, again bool) bool {
	switch b := t.on; {
	case b.pending:
		return again || b.lost && b.wanted
	case t.kind == event.MainTask && !again:
		s.stream.Publish(t.id, 0, event.ExchangeFinished{Outcome: end.Outcome, Error: end.Error})
	}
	return again
}

// interrupted is the notice that an interrupted task can be continued.
const interrupted = "interrupted · press Enter to continue"

// outage reports whether a task failed because the model could not be reached or had no capacity.
func outage(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Passes()
}

// startFollowing starts the work that follows a task of the main conversation; again means that a driver wants another
// task. The caller holds s.mu.
func (s *tasks) startFollowing(t *task, outcome event.Outcome, response string, again bool) {
	b := s.main
	if s.life.ended() {
		return
	}
	if outcome == event.Completed && t.kind == event.MainTask {
		s.titles.generate(b.conv.Messages(), response)
	}
	if b.room.Asked() {
		s.start(b, event.CompactionTask, nil, s.loop.Compact)
	}
	s.startNext(b)
	if again && b.task == nil { // otherwise a prompt comes first
		s.start(b, event.MainTask, nil, driven(s, true))
	}
	continueLoop(s)
	if b.task == nil {
		if s.loop.TellsIdle() {
			s.idleness.start(func() { s.loop.NotifyIdle(t.x) })
		}
	}
}

// reportFailure publishes why a task failed, unless the person knows: the session can't be saved, or the context is
// full and nothing was sent.
func (s *tasks) reportFailure(t *task, err error) {
	if full, ok := errors.AsType[*turn.ContextLimitError](err); ok && full.Err == nil {
		return
	}
	if !errors.Is(err, s.stream.StoreError()) {
		cause, next, raw := model.Tell(err)
		s.stream.Publish(t.id, 0, event.Error{Text: cause, Code: "task_failed", Task: t.id, NextStep: next, Raw: raw})
	}
}

// endBranch removes a fork. The caller holds s.mu.
func (s *tasks) endBranch(b *branch) {
	delete(s.forks, b.conv.Branch())
	s.tree.End(b.conv.Branch())
	s.agents.line.moved.Broadcast()
}

// compact runs a compaction, at once or before the next request of the running task. wanted is the person's wish for
// the summary, "" for none.
func (s *tasks) compact(wanted string) {
	if err := s.stream.StoreError(); err != nil {
		s.stream.Reject("nothing was compacted, because the session can't be saved: %v", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.main.room.Ask(wanted)
	s.main.room.Retry()
	if t := s.main.task; t != nil {
		s.stream.Publish(t.id, 0, event.Notice{Text: "buddy will compact the context before the next request", Code: "compact"})
		return
	}
	s.start(s.main, event.CompactionTask, nil, s.loop.Compact)
}

// pin protects an exchange from compactions.
func (s *tasks) pin(p event.Pin) {
	if err := s.stream.StoreError(); err != nil {
		s.stream.Reject("nothing was pinned, because the session can't be saved: %v", err)
		return
	}
	if !s.tree.Main().Pin(p) {
		s.stream.Reject("there is no exchange %d (1 is the newest that the model still gets)", p.Back)
	}
}

// continueInterrupted continues a task that a crash, an outage or the turn limit interrupted.
func (s *tasks) continueInterrupted() {
	s.mu.Lock()
	waits := s.main.task == nil && s.main.pending
	s.mu.Unlock()
	switch {
	case !waits:
		s.stream.Reject("nothing was interrupted")
	case !s.drivers.handle(event.Continue{}):
		continueMain(s)
	}
}

// continueLost continues an exchange that a crash interrupted, if there is one: now, or when its recovery is complete.
func continueLost(s *tasks) {
	s.mu.Lock()
	b := s.main
	b.wanted = b.drop != nil || b.lost
	lost := b.task == nil && b.lost
	s.mu.Unlock()
	if lost && !s.drivers.handle(event.Continue{}) {
		continueMain(s)
	}
}

// onMain calls the function do with the exchange of the main task. If there is no main task, or do returns false, it
// rejects the command with the text in none.
func (s *tasks) onMain(do func(*turn.Exchange) bool, none string) {
	s.mu.Lock()
	t := s.main.task
	s.mu.Unlock()
	if t == nil || !do(t.x) {
		s.stream.Reject("%s", none)
	}
}

// cancel stops a task, 0 for the main one, and reports whether it was running.
func (s *tasks) cancel(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.busy() {
		if t.id == id || id == 0 && t == s.main.task {
			s.stop(t, ErrCancelled)
			return true
		}
	}
	return false
}

// stop cancels a task and the agents that it called, with a cause. The caller holds s.mu.
func (s *tasks) stop(t *task, cause error) {
	t.limit.clear()
	t.cancelling = true
	s.stream.Publish(t.id, 0, event.TaskCancelling{ID: t.id})
	t.cancel(cause)
	for _, other := range s.busy() {
		if a := other.on.agent; a != nil && a.parent == t.id {
			s.stop(other, cause)
		}
	}
}

// close cancels all work; no task can open afterwards.
func (s *tasks) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idleness.end()
	if s.repeats != nil {
		s.repeats.halt()
	}
	s.life.cancel()
}
