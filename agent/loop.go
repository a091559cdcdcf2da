package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// ErrEmptyResponse means that a model answered with neither text nor calls (A27).
var ErrEmptyResponse = errors.New("model returned empty response")

// exchange repeats turns until the model answers without calling tools.
func (r *Runtime) exchange(ctx context.Context, t *task) (event.Outcome, error) {
	for n := 1; ; n++ {
		if ctx.Err() != nil {
			return event.Cancelled, nil
		}
		if r.opts.MaxTurns > 0 && n > r.opts.MaxTurns {
			r.emit(t.id, 0, event.MaxTurnsReached{Task: t.id, Turns: r.opts.MaxTurns})
			return event.MaxTurns, nil
		}
		if n > 1 {
			r.takeQueued(t)
		}
		if !r.fit(t.id) {
			return event.ContextLimit, nil
		}
		done, err := r.turn(ctx, t)
		switch {
		case ctx.Err() != nil:
			return event.Cancelled, nil
		case err != nil:
			return event.Failed, err
		case done:
			return event.Completed, nil
		}
	}
}

// takeQueued lets prompts that were typed meanwhile steer the exchange: together, as
// messages of their own, before the next request (DECISIONS 37).
func (r *Runtime) takeQueued(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.queue {
		r.enter(t.id, p)
	}
	r.queue = nil
}

// turn is one request and the tools that it calls. done means that there were none.
func (r *Runtime) turn(ctx context.Context, t *task) (done bool, err error) {
	number := r.nextTurn()
	id := newID()
	r.emitUsage(t.id, number)
	r.emit(t.id, number, event.TurnStarted{TurnID: id, Number: number})
	finished := event.TurnFinished{TurnID: id, Number: number}

	answer, err := r.ask(ctx, t.id, number)
	if err == nil {
		finished.StopReason, finished.Usage = answer.finish, answer.usage
		done = len(answer.calls) == 0
		r.execute(ctx, t.id, number, answer.calls)
	}
	r.emit(t.id, number, finished)
	return done, err
}

func (r *Runtime) nextTurn() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.turn++
	return r.ids.turn
}

// answer is what a model said.
type answer struct {
	calls  []model.ToolCall
	finish string
	usage  *model.Usage
}

// ask sends the history and stores what comes back. When the stream ends early the
// text so far is kept, and no call of it (A16).
func (r *Runtime) ask(ctx context.Context, task, turn int) (answer, error) {
	m := r.answering()
	r.mu.Lock()
	req := model.Request{Messages: r.hist.Messages(), Tools: r.opts.Tools.Definitions()}
	tokens := r.hist.Tokens()
	r.mu.Unlock()
	info := m.Info()
	r.emit(task, turn, event.RequestStarted{
		Profile: info.Profile, Model: info.Model, Messages: len(req.Messages),
		Tools: len(req.Tools), EstimatedTokens: tokens, Attempt: 1,
	})

	began := r.opts.Now()
	p := &partial{runtime: r, model: m, task: task, turn: turn, saved: began}
	err := p.read(ctx, req)
	if err != nil {
		if p.text.Len() > 0 {
			r.store(task, turn, model.Message{Role: model.Assistant, Content: p.text.String()}, p.reasoning.String(), true)
		}
		return answer{}, err
	}
	said := *p.done.Message
	said.ToolCalls = r.uniqueCalls(said.ToolCalls)
	if err := unfit(p.done.Finish); err != nil {
		said.ToolCalls = nil // what is left of them must not run (DECISIONS 23)
		r.store(task, turn, said, p.reasoning.String(), true)
		return answer{}, err
	}
	if !r.store(task, turn, said, p.reasoning.String(), false) {
		return answer{}, ErrEmptyResponse
	}
	a := answer{finish: p.done.Finish, usage: p.done.Usage}
	r.mu.Lock()
	a.calls = r.hist.Open()
	r.mu.Unlock()
	finished := event.ResponseFinished{FinishReason: a.finish, Calls: len(a.calls), PhaseMS: r.opts.Now().Sub(began).Milliseconds()}
	if a.usage != nil {
		finished.Tokens, finished.CachedTokens = a.usage.Completion, a.usage.Cached
	}
	r.emit(task, turn, finished)
	r.count(task, turn, a.usage)
	return a, nil
}

// unfit says why an answer that ended so is not a whole one (A26).
func unfit(finish string) error {
	switch finish {
	case model.FinishLength:
		return errors.New("the answer was cut off at the model's output limit; ask it to go on, or for less")
	case model.FinishContentFilter:
		return errors.New("the provider's content filter stopped the answer")
	}
	return nil
}

// uniqueCalls gives every call an id that no other call of the session has: providers
// reuse them, and some send none (C02).
func (r *Runtime) uniqueCalls(calls []model.ToolCall) []model.ToolCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range calls {
		r.ids.call++
		if calls[i].ID == "" || r.hist.Called(calls[i].ID) || sameID(calls[:i], calls[i].ID) {
			calls[i].ID = fmt.Sprintf("call_%d_%s", r.ids.call, newID())
		}
	}
	return calls
}

func sameID(calls []model.ToolCall, id string) bool {
	for _, c := range calls {
		if c.ID == id {
			return true
		}
	}
	return false
}

// store puts an answer into the history and the stream. It reports whether there was
// anything to store.
func (r *Runtime) store(task, turn int, m model.Message, reasoning string, part bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hist.Assistant(m) {
		return false
	}
	r.emit(task, turn, event.ModelMessage{Message: m, Reasoning: reasoning, Partial: part})
	return true
}

// count adds up what the provider said of its tokens; nothing when it said nothing (A29).
func (r *Runtime) count(task, turn int, u *model.Usage) {
	if u == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hist.Calibrate(u.Prompt)
	r.usage = event.MetricsUsage{
		Prompt: u.Prompt, Completion: u.Completion, Cached: u.Cached,
		SessionPrompt:     r.usage.SessionPrompt + u.Prompt,
		SessionCompletion: r.usage.SessionCompletion + u.Completion,
	}
	r.emit(task, turn, r.usage)
}

// emitUsage reports how full the context is.
func (r *Runtime) emitUsage(task, turn int) {
	r.mu.Lock()
	u := event.ContextUsage{Estimated: r.hist.Tokens(), Limit: r.model.Info().Window}
	r.mu.Unlock()
	if u.Limit > 0 {
		u.Percent = u.Estimated * 100 / u.Limit
	}
	r.emit(task, turn, u)
}

// checkpointEvery is the least time between two checkpoints (DECISIONS 8).
const checkpointEvery = time.Second

// partial is an answer while it streams.
type partial struct {
	runtime         *Runtime
	model           model.Model
	task, turn      int
	text, reasoning growing
	saved           time.Time // of the last checkpoint
	done            *model.Delta
}

// growing is text of which a part is in a checkpoint.
type growing struct {
	buf   []byte
	saved int
}

func (g *growing) add(s string)   { g.buf = append(g.buf, s...) }
func (g *growing) Len() int       { return len(g.buf) }
func (g *growing) String() string { return string(g.buf) }

// unsaved returns what came since the last call, and where it starts.
func (g *growing) unsaved() (text string, at int) {
	text, at = string(g.buf[g.saved:]), g.saved
	g.saved = len(g.buf)
	return text, at
}

// read takes the whole stream of an answer.
func (p *partial) read(ctx context.Context, req model.Request) error {
	for d, err := range p.model.Stream(ctx, req) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		p.take(d)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.done == nil || p.done.Message == nil:
		return fmt.Errorf("model %q: the answer ended before it was complete", p.model.Info().Model)
	}
	return nil
}

func (p *partial) take(d model.Delta) {
	r := p.runtime
	switch d.Kind {
	case model.Text:
		p.text.add(d.Text)
		r.emit(p.task, p.turn, event.TextDelta{Text: d.Text})
	case model.Reasoning:
		p.reasoning.add(d.Text)
		r.emit(p.task, p.turn, event.ReasoningDelta{Field: d.Field, Text: d.Text})
	case model.CallDelta:
		r.emit(p.task, p.turn, event.CallDelta{CallID: d.CallID, Text: d.Text})
	case model.Retry:
		// What the failed attempt said is not part of the next one.
		p.text, p.reasoning = growing{}, growing{}
		r.emit(p.task, p.turn, event.ModelRetry{Attempt: d.Retry.Attempt, WaitMS: d.Retry.WaitMS, Why: d.Retry.Why})
	case model.CallReady:
		// Calls run when the answer is complete.
	case model.Done:
		p.done = &d
	}
	if now := r.opts.Now(); now.Sub(p.saved) >= checkpointEvery {
		p.saved = now
		c := event.Checkpoint{}
		c.Text, c.TextAt = p.text.unsaved()
		c.Reasoning, c.ReasoningAt = p.reasoning.unsaved()
		if c.Text+c.Reasoning != "" {
			r.emit(p.task, p.turn, c)
		}
	}
}
