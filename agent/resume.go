package agent

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// OutcomeUnknown is the result of a tool that was running when buddy died and can't be
// asked how it went (DECISIONS 8).
const OutcomeUnknown = "interrupted: outcome unknown, check before repeating"

// What becomes of calls that had not started when buddy died. Nothing starts by itself: a
// person asks again, or the model.
const (
	notStarted = "Not run: buddy ended before this started. Call it again if it is still wanted."
	dropped    = "Not run: it waited for the user's yes when buddy ended, and the user went on with a prompt instead."
)

// leftover is what an earlier process did not finish of a conversation.
type leftover struct {
	recall   Recall
	exchange bool                         // a task had not ended, or can be continued
	waits    bool                         // for Continue
	answered bool                         // the last answer was whole and called nothing
	partial  event.ModelMessage           // text of an answer that broke off
	asked    map[string]bool              // calls without a result whose request is in the stream
	waiting  map[string]bool              // calls whose approval nobody has answered
	started  map[string]event.ToolStarted // calls without a result that had started
	queued   map[int]event.PromptSubmitted
	shells   map[int]event.TaskStarted // commands that had not ended
}

// leftovers are what is open, by conversation.
type leftovers map[*conversation]*leftover

func (l leftovers) of(c *conversation) *leftover {
	if l[c] == nil {
		l[c] = &leftover{
			recall: Recall{History: c.hist}, asked: make(map[string]bool), waiting: make(map[string]bool), started: make(map[string]event.ToolStarted),
			queued: make(map[int]event.PromptSubmitted), shells: make(map[int]event.TaskStarted),
		}
	}
	return l[c]
}

// open reports whether an exchange of c broke off before its answer was whole.
func (l leftovers) open(c *conversation) bool {
	return l[c] != nil && l[c].exchange && !l[c].answered
}

// replay feeds stored events to the conversations and the counters, before anybody else
// can.
func (r *Runtime) replay(events []event.Envelope) {
	left := leftovers{}
	for _, env := range events {
		r.ids.turn = max(r.ids.turn, env.Turn)
		if p, ok := env.Payload.(event.BranchStarted); ok {
			r.ids.branch = p.Branch - 1
			r.fork()
			continue
		}
		r.changes.Replay(env.Task, env.Payload)
		c := r.main
		if env.Branch != 0 {
			c = r.branches[env.Branch]
		}
		if c != nil { // else it ended, or the file lacks its beginning
			r.replayInto(c, env, left.of(c))
		}
	}
	if len(events) > 0 {
		r.stream.Resume(events[len(events)-1].Seq)
	}
	for c, l := range left {
		c.requeue(l.queued)
		if !l.exchange && len(l.shells) == 0 {
			delete(left, c)
		}
	}
	r.left = left
}

// replayInto feeds one event of a conversation to it. The caller holds r.mu.
func (r *Runtime) replayInto(c *conversation, env event.Envelope, left *leftover) {
	left.recall.Take(env)
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		r.replayPrompt(c, p, left)
	case event.PromptWithdrawn:
		delete(left.queued, p.ID)
	case event.TaskStarted, event.TaskFinished, event.Interrupted, event.MaxTurnsReached:
		r.replayTask(c, p, left)
	case event.MetricsUsage, event.InstructionsRead, event.SessionRenamed, event.Notice:
		r.replaySession(p)
	case event.ReminderAttached:
		if slices.Contains(p.Kinds, toldEnds) {
			c.ends = nil
		}
	case event.Warning:
		if p.Code == injection {
			c.tainted = p.Text
		}
	case event.TargetSwitched:
		c.switched(p)
	case event.ContextCompacted:
		c.date = ""
	case event.ToolStarted:
		left.started[p.CallID] = p
		r.ids.out++
	case event.ToolRequested, event.ApprovalAsked, event.ApprovalAnswered, event.ToolResult:
		replayCall(p, left)
	default:
		replayModel(p, left)
	}
}

// replayTask feeds how far a task is. The caller holds r.mu.
func (r *Runtime) replayTask(c *conversation, e event.Event, left *leftover) {
	switch p := e.(type) {
	case event.TaskStarted:
		r.ids.task = max(r.ids.task, p.ID)
		if p.Kind == event.ShellTask {
			left.shells[p.ID] = p
			return
		}
		left.exchange, left.waits = p.Kind != event.CompactionTask, false
	case event.TaskFinished:
		if _, shell := left.shells[p.ID]; shell {
			delete(left.shells, p.ID)
			return
		}
		left.exchange = left.waits
		if c.branch != 0 {
			delete(r.branches, c.branch)
		}
	case event.Interrupted:
		left.waits = p.CanContinue
	case event.MaxTurnsReached:
		left.waits = c.branch == 0
	}
}

// replaySession feeds what is about the session as a whole. The caller holds r.mu.
func (r *Runtime) replaySession(e event.Event) {
	switch p := e.(type) {
	case event.MetricsUsage:
		r.ledger.Replay(p)
	case event.InstructionsRead:
		r.guide.speaks = cmp.Or(p.Injection, r.guide.speaks)
	case event.SessionRenamed:
		r.titles++
	case event.Notice:
		if p.Code == unknownWindow {
			r.unmeasured[p.Text] = true
		}
	}
}

// replayPrompt feeds a prompt, which may have waited. The caller holds r.mu.
func (r *Runtime) replayPrompt(c *conversation, p event.PromptSubmitted, left *leftover) {
	r.ids.prompt = max(r.ids.prompt, p.ID)
	if p.Queued {
		left.queued[p.ID] = p
		return
	}
	delete(left.queued, p.ID)
	c.date = cmp.Or(p.Date, c.date)
	left.answered = false
	if !left.exchange {
		c.tainted = ""
	}
}

// requeue puts back the prompts that waited.
func (c *conversation) requeue(queued map[int]event.PromptSubmitted) {
	for _, p := range queued {
		c.queue = append(c.queue, p)
	}
	slices.SortFunc(c.queue, func(a, b event.PromptSubmitted) int { return a.ID - b.ID })
}

// replayCall feeds how far a call is that an answer made.
func replayCall(e event.Event, left *leftover) {
	switch p := e.(type) {
	case event.ToolRequested:
		left.asked[p.CallID] = true
	case event.ApprovalAsked:
		left.waiting[p.CallID] = true
	case event.ApprovalAnswered:
		delete(left.waiting, p.CallID)
	case event.ToolResult:
		delete(left.asked, p.CallID)
		delete(left.waiting, p.CallID)
		delete(left.started, p.CallID)
	}
}

// replayModel feeds what is about an answer.
func replayModel(e event.Event, left *leftover) {
	switch p := e.(type) {
	case event.TurnStarted, event.ModelRetry, event.ModelFallback:
		left.partial = event.ModelMessage{}
	case event.Checkpoint:
		left.partial.Message.Content += p.Text
		left.partial.Reasoning += p.Reasoning
	case event.ModelMessage:
		left.partial = event.ModelMessage{}
		left.answered = left.recall.Last() == model.Assistant && !p.Partial && len(p.Message.ToolCalls) == 0
	}
}

var errLost = errors.New("buddy ended while this ran in the background; ask again if it is still wanted")

// resume settles interrupted exchanges, each as a task: results of what had started are
// found again, what waited for an approval asks again in every mode unless a prompt comes,
// and nothing else starts. The model is not called unless
// a person has a say: by answering an approval, by a prompt that waits, or by Continue.
func (r *Runtime) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.left
	r.left = nil
	for _, c := range slices.SortedFunc(maps.Keys(left), func(a, b *conversation) int { return a.branch - b.branch }) {
		kind, l := event.MainTask, left[c]
		r.reviveShells(l.shells)
		if !l.exchange {
			continue
		}
		if c.branch != 0 {
			kind = event.BackgroundTask
		}
		asking, drop := context.WithCancelCause(r.ctx)
		c.drop = drop // from now on: a prompt may come before the first question
		r.startTask(c, kind, nil, func(ctx context.Context, t *task) (event.Outcome, error) {
			defer drop(nil)
			defer context.AfterFunc(ctx, func() { drop(context.Cause(ctx)) })()
			return r.takeUp(ctx, asking, t, l)
		})
	}
}

// takeUp settles an interrupted exchange and goes on with it if a person has a say.
// Approvals are asked for until asking ends.
func (r *Runtime) takeUp(ctx, asking context.Context, t *task, l *leftover) (event.Outcome, error) {
	r.keepPartial(t, l.partial)
	asked := r.settleCalls(ctx, asking, t, l)
	c := t.talk
	r.mu.Lock()
	c.drop = nil
	goOn := asked || len(c.queue) > 0
	c.pending = ctx.Err() == nil && !goOn && c.branch == 0 && !l.answered
	r.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return event.Cancelled, nil
	case l.answered && !goOn:
		return event.Completed, nil
	case goOn:
		r.takeQueued(t)
		return r.exchange(ctx, t)
	case c.branch != 0:
		return event.Failed, errLost
	}
	r.emit(t.id, 0, event.Interrupted{Task: t.id, Text: "interrupted · Enter continues", CanContinue: true})
	return event.Completed, nil
}

// keepPartial stores what an answer that broke off had said.
func (r *Runtime) keepPartial(t *task, p event.ModelMessage) {
	if p.Message.Content == "" {
		return
	}
	r.store(t, 0, model.Message{Role: model.Assistant, Content: p.Message.Content}, p.Reasoning, true)
}

// settleCalls gives every open call its result and reports whether a person was asked.
// Approvals that were open are asked for again, as long as asking has not ended.
func (r *Runtime) settleCalls(ctx, asking context.Context, t *task, l *leftover) (asked bool) {
	r.mu.Lock()
	open := t.talk.hist.Open()
	for id, s := range l.started {
		if !t.talk.hist.Called(id) { // of an answer that never was complete
			r.emit(t.id, 0, discarded(id, s.Name))
		}
	}
	r.mu.Unlock()
	b := r.newBatch(ctx, t, 0)
	for _, c := range open {
		j := b.plan(c)
		if s, ran := l.started[c.ID]; ran {
			j.ran = true
			r.finish(t, 0, j, r.recover(ctx, j, s.Dir))
			p, waits := j.tool.(tools.Patient) // for a person, who is there then
			asked = asked || waits && p.Patient(j.call)
			continue
		}
		if !l.asked[c.ID] { // the crash came between the answer and this call of it
			b.request(j)
		}
		if !l.waiting[c.ID] {
			r.finish(t, 0, j, failure(notStarted))
			continue
		}
		j.reopened, asked = true, true
		b.aloneUnless(asking, j)
	}
	b.cancel(nil)
	r.capResults(t, 0)
	return asked
}

// recover finds the result of a call that an earlier process started.
func (r *Runtime) recover(ctx context.Context, j *job, dir string) tools.Result {
	rec, ok := j.tool.(tools.Recoverer)
	if !ok || dir == "" {
		return failure(OutcomeUnknown)
	}
	call := j.call
	call.Dir = dir
	return guarded(call.Name, func() tools.Result { return rec.Recover(ctx, call) })
}
