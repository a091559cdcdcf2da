package agent

import (
	"context"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/stream"
)

// exchange repeats turns until the model answers without calling tools.
func (r *Runtime) exchange(ctx context.Context, t *task) (event.Outcome, error) {
	for {
		if outcome, err := r.step(ctx, t); outcome != "" {
			return outcome, err
		}
	}
}

// step is one turn of an exchange. The outcome is "" when another one has to follow.
func (r *Runtime) step(ctx context.Context, t *task) (event.Outcome, error) {
	if ctx.Err() != nil {
		return event.Cancelled, nil
	}
	if outcome := r.ledger.Exhausted(t.id, &t.use, t.turns); outcome != "" {
		return outcome, nil
	}
	if t.turns > 0 {
		r.takeQueued(t)
	}
	r.tellEnds(t)
	r.instruct(ctx)
	switch r.fit(ctx, t) {
	case full:
		return event.ContextLimit, nil
	case moved:
		return "", nil
	}
	t.turns++
	var done bool
	var err error
	if r.tell(ctx, t, LoopIteration{Turn: t.turns}).kind != terminate {
		done, err = r.turn(ctx, t)
	}
	if err != nil && ctx.Err() == nil && r.overflowed(ctx, t, err) {
		return "", nil
	}
	switch stop := terminated(ctx); {
	case stop != nil:
		return event.Failed, stop
	case ctx.Err() != nil:
		return event.Cancelled, nil
	case err != nil:
		return event.Failed, err
	case done:
		return event.Completed, nil
	}
	return "", nil
}

// takeQueued lets prompts that were typed meanwhile steer the exchange: together, as
// messages of their own, before the next request (DECISIONS 37).
func (r *Runtime) takeQueued(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range t.talk.queue {
		r.enter(t.talk, t.id, p, event.Steering)
	}
	t.talk.queue = nil
}

// turn is one request and the tools that it calls. done means that there were none.
func (r *Runtime) turn(ctx context.Context, t *task) (done bool, err error) {
	number := r.nextTurn()
	id := stream.NewID()
	r.emitUsage(t, number)
	r.emit(t.id, number, event.TurnStarted{TurnID: id, Number: number})
	finished := event.TurnFinished{TurnID: id, Number: number}
	before := r.ledger.Cost(&t.use)

	answer, err := r.ask(ctx, t, number)
	if err == nil {
		finished.StopReason, finished.Usage = answer.finish, answer.usage
		done = len(answer.calls) == 0 && answer.finish != model.FinishCompaction
		if answer.finish == model.FinishCompaction { // by the provider, which does not say how much (B21)
			t.compacted = &CompactionOccurred{}
		}
		answer.batch.execute(answer.calls)
		r.capResults(t, number)
		r.show(t, number)
		r.instructBelow(ctx, t, number)
	}
	finished.Cost = r.ledger.Cost(&t.use) - before
	r.emit(t.id, number, finished)
	return done, err
}

// show hands the model the pictures that its tools have read, after all their results:
// no protocol takes them in between everywhere.
func (r *Runtime) show(t *task, turn int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	images := t.shown
	t.shown = nil
	if len(images) == 0 || r.model.Info().TextOnly {
		return
	}
	images = images[:min(len(images), maxImages)]
	r.attach(t.talk, t.id, turn, event.ReminderAttached{
		Kinds: []string{"images"}, Text: "<system-reminder>The pictures that your tools have just read.</system-reminder>", Images: images,
	})
}

func (r *Runtime) nextTurn() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.turn++
	return r.ids.turn
}

// emitUsage reports how full the context of a task is; nil is the main conversation.
func (r *Runtime) emitUsage(t *task, turn int) {
	r.mu.Lock()
	h, id := r.main.hist, 0
	if t != nil {
		h, id = t.talk.hist, t.id
	}
	u := event.ContextUsage{Estimated: h.Tokens(), Limit: r.model.Info().Window}
	r.mu.Unlock()
	if u.Limit > 0 {
		u.Percent = u.Estimated * 100 / u.Limit
		u.Health = r.opts.Context.health(u.Estimated, u.Limit)
	}
	r.emit(id, turn, u)
}
