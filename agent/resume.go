package agent

import (
	"context"
	"slices"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// OutcomeUnknown is the result of a tool that was running when buddy died and can't be
// asked how it went (DECISIONS 8).
const OutcomeUnknown = "interrupted: outcome unknown, check before repeating"

// leftover is what an earlier process did not finish.
type leftover struct {
	exchange bool                         // a task had not ended, or can be continued
	waits    bool                         // for Continue
	partial  event.ModelMessage           // text of an answer that broke off
	started  map[string]event.ToolStarted // calls without a result that had started
}

// replay feeds stored events to the history and the counters.
func (r *Runtime) replay(events []event.Envelope) leftover {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := leftover{started: make(map[string]event.ToolStarted)}
	queued := make(map[int]event.PromptSubmitted)
	for _, env := range events {
		r.ids.turn = max(r.ids.turn, env.Turn)
		switch p := env.Payload.(type) {
		case event.PromptSubmitted:
			r.ids.prompt = max(r.ids.prompt, p.ID)
			if p.Queued {
				queued[p.ID] = p
				continue
			}
			delete(queued, p.ID)
			r.hist.User(p.Text)
		case event.PromptWithdrawn:
			delete(queued, p.ID)
		case event.TaskStarted:
			r.ids.task = max(r.ids.task, p.ID)
			left.exchange, left.waits = true, false
		case event.TaskFinished:
			left.exchange = left.waits
		case event.Interrupted:
			left.waits = p.CanContinue
		case event.MetricsUsage:
			r.usage.MetricsUsage = p
		case event.ContextCompacted, event.MicroCompacted:
			r.replayContext(p)
		default:
			r.replayModel(p, &left)
		}
	}
	if len(events) > 0 {
		r.stream.seq = nextSeq(events[len(events)-1].Seq)
	}
	r.requeue(queued)
	return left
}

// requeue puts back the prompts that waited. The caller holds r.mu.
func (r *Runtime) requeue(queued map[int]event.PromptSubmitted) {
	for _, p := range queued {
		r.queue = append(r.queue, p)
	}
	slices.SortFunc(r.queue, func(a, b event.PromptSubmitted) int { return a.ID - b.ID })
}

func (r *Runtime) replayModel(e event.Event, left *leftover) {
	switch p := e.(type) {
	case event.TurnStarted, event.ModelRetry, event.ModelFallback:
		left.partial = event.ModelMessage{}
	case event.Checkpoint:
		left.partial.Message.Content += p.Text
		left.partial.Reasoning += p.Reasoning
	case event.ModelMessage:
		left.partial = event.ModelMessage{}
		r.hist.Assistant(p.Message)
	case event.ToolStarted:
		left.started[p.CallID] = p
		r.ids.out++
	case event.ToolResult:
		delete(left.started, p.CallID)
		r.hist.Result(p.CallID, p.Name, p.Result)
	}
}

// nextSeq is the number that a resumed stream counts from (DECISIONS 2).
func nextSeq(last uint64) uint64 {
	const step = 1_000_000
	return (last/step + 1) * step
}

// resume settles an interrupted exchange as a task: results of what had started are
// found again, what waited for an approval asks again. The model is not called unless
// a person has a say: by answering an approval, by a prompt that waits, or by Continue.
func (r *Runtime) resume(left leftover) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.startTask("resume", nil, func(ctx context.Context, t *task) (event.Outcome, error) {
		r.keepPartial(t.id, left.partial)
		asked := r.settleCalls(ctx, t, left.started)
		if ctx.Err() != nil {
			return event.Cancelled, nil
		}
		r.mu.Lock()
		goOn := asked || len(r.queue) > 0
		r.pending = !goOn
		r.mu.Unlock()
		if goOn {
			r.takeQueued(t)
			return r.exchange(ctx, t)
		}
		r.emit(t.id, 0, event.Interrupted{Task: t.id, Text: "interrupted · Enter continues", CanContinue: true})
		return event.Completed, nil
	})
}

// keepPartial stores what an answer that broke off had said.
func (r *Runtime) keepPartial(task int, p event.ModelMessage) {
	if p.Message.Content == "" {
		return
	}
	r.store(task, 0, model.Message{Role: model.Assistant, Content: p.Message.Content}, p.Reasoning, true)
}

// settleCalls gives every open call its result and reports whether a person was asked.
func (r *Runtime) settleCalls(ctx context.Context, t *task, started map[string]event.ToolStarted) (asked bool) {
	r.mu.Lock()
	open := r.hist.Open()
	for id, s := range started {
		if !r.hist.Called(id) { // of an answer that never was complete
			r.emit(t.id, 0, discarded(id, s.Name))
		}
	}
	r.mu.Unlock()
	b := r.newBatch(ctx, t, 0)
	for _, c := range open {
		j := b.plan(c)
		if s, ran := started[c.ID]; ran {
			r.finish(t.id, 0, j, r.recover(ctx, j, s.Dir))
			continue
		}
		b.alone(j) // the stream has its request, from before the crash
		asked = true
	}
	b.cancel(nil)
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
