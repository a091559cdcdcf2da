package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
	"buddy/tools"
)

// Why a run ended without an answer, beside what models and adapters say.
var (
	ErrCancelled = errors.New("cancelled")
	ErrMaxTurns  = errors.New("max agentic loop iterations reached")
	ErrMaxCost   = errors.New("the exchange reached its cost limit")
	ErrBusy      = errors.New("another exchange is running")
	ErrClosed    = errors.New("the runtime is closed")
)

// ToolError is a tool that failed where Options.Strict ends the exchange.
type ToolError = turn.ToolError

// ErrCutOff means that an answer was longer than the model's output limit.
var ErrCutOff = turn.ErrCutOff

// ContextLimitError is the error of the outcome context_limit: the estimate of what had to be sent, and
// the window that it did not fit into.
type ContextLimitError = turn.ContextLimitError

// Result holds what an exchange came to. Response is the text of the last answer, or
// what there is of it when the Outcome is not completed.
type Result struct {
	Task     int // its number in the session, as in the events
	Response string
	Messages []model.Message // the whole history
	Usage    model.Usage     // of all requests, as far as the provider told
	Cost     model.Money     // of all requests, as far as prices are known
	Turns    int             // that are complete: answered, and their calls done
	Outcome  event.Outcome
}

// Run drives one exchange from a user message to its outcome. The error is nil
// only when the outcome is completed; the Result counts in every case. The history
// stays, so the next run goes on with the conversation.
//
// Start is not needed. Without it nobody can answer approvals, so what would need one
// is denied; see Options.Mode and Options.Policy.
func (r *Runtime) Run(ctx context.Context, m model.Message) (Result, error) {
	ctx, t, err := r.tasks.begin(ctx, &m)
	if err != nil {
		return Result{}, err
	}
	return r.tasks.run(ctx, t, r.tasks.loop.Run)
}

// RunText is Run with a text.
func (r *Runtime) RunText(ctx context.Context, text string) (Result, error) {
	return r.Run(ctx, model.Message{Role: model.User, Content: text})
}

// RunStream is Run that reports while it goes. The channel has the events of the
// exchange and is closed after its task.finished; what goes wrong is an event.Error. A
// reader that leaves before that ends ctx, which cancels the exchange.
func (r *Runtime) RunStream(ctx context.Context, m model.Message) <-chan event.Envelope {
	out := make(chan event.Envelope)
	ctx, cancel := context.WithCancel(ctx)
	events := r.Subscribe(ctx)
	working, t, err := r.tasks.begin(ctx, &m)
	if err == nil {
		go func() { _, _ = r.tasks.run(working, t, r.tasks.loop.Run) }() // its events say how it ended
	}
	go func() {
		defer close(out)
		defer cancel()
		if err != nil {
			failed := event.Envelope{Session: r.opts.Session, Time: r.opts.Now().UnixMilli(), Payload: event.Error{Text: err.Error(), Code: "task_failed"}}
			select {
			case out <- failed:
			case <-ctx.Done():
			}
			return
		}
		for env := range events {
			if env.Task != t.id {
				continue
			}
			select {
			case out <- env:
			case <-ctx.Done():
				return
			}
			if _, last := env.Payload.(event.TaskFinished); last {
				return
			}
		}
	}()
	return out
}

// Step reports what one turn came to: a ToolsExecuted or a CompactionOccurred, after which there is more to do, or
// the last one, a FinalResponse, a MaxTurnsReached or a Failure.
type Step interface{ step() }

type (
	// ToolsExecuted is a turn that called tools. Results are tool messages in the order
	// of Calls.
	ToolsExecuted struct {
		Calls   []model.ToolCall
		Results []model.Message
	}
	// CompactionOccurred is a step that made the history shorter and asked no model.
	CompactionOccurred struct{ OldTokens, NewTokens int }
	// FinalResponse is the turn with the answer.
	FinalResponse struct{ Result Result }
	// MaxTurnsReached reports that Options.MaxIterations were used up.
	MaxTurnsReached struct{ Result Result }
	// Failure is an exchange that failed, was cancelled, or met another limit.
	Failure struct {
		Result Result
		Err    error
	}
)

func (ToolsExecuted) step()      {}
func (CompactionOccurred) step() {}
func (FinalResponse) step()      {}
func (MaxTurnsReached) step()    {}
func (Failure) step()            {}

// RunStep is Run turn by turn. The message is in the history when RunStep returns;
// ranging over the steps does the work, once. Between two steps the caller may look at
// Messages, Inject another one and change the tools with SetTools. Leaving the loop
// cancels the exchange; the history stays valid.
func (r *Runtime) RunStep(ctx context.Context, m model.Message) iter.Seq[Step] {
	err := r.tasks.prepare(m)
	return func(yield func(Step) bool) {
		var working context.Context
		var t *task
		if err == nil {
			working, t, err = r.tasks.begin(ctx, nil)
		}
		if err != nil {
			yield(Failure{Err: err})
			return
		}
		err = errors.New("these steps were already started")
		r.tasks.steps(working, t, yield)
	}
}

// prepare enters the message of an exchange that begins later.
func (s *tasks) prepare(m model.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.main.task; t != nil {
		return fmt.Errorf("%w: task %d", ErrBusy, t.id)
	}
	return s.put(m)
}

func (s *tasks) steps(ctx context.Context, t *task, yield func(Step) bool) {
	open := true
	defer func() {
		if open { // the caller has left, perhaps by a panic
			t.cancel(ErrCancelled)
			_, _ = s.end(ctx, t, event.Cancelled, nil)
		}
	}()
	for {
		outcome, err := guard(ctx, t, s.loop.Step)
		if outcome == "" {
			if !yield(s.pause(t)) {
				return
			}
			s.unpause(t)
			continue
		}
		open = false
		res, err := s.end(ctx, t, outcome, err)
		switch outcome {
		case event.Completed:
			yield(FinalResponse{res})
		case event.MaxTurns:
			yield(MaxTurnsReached{res})
		default:
			yield(Failure{res, err})
		}
		return
	}
}

// pause lets messages in between two steps, and returns what the last one did.
func (s *tasks) pause(t *task) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.paused = true
	if c := t.x.TakeCompacted(); c != nil {
		return CompactionOccurred{OldTokens: c.Before, NewTokens: c.After}
	}
	msgs := t.on.talk.Messages()
	last := len(msgs) - 1
	for last > 0 && msgs[last].Role == model.Tool {
		last--
	}
	return ToolsExecuted{Calls: slices.Clone(msgs[last].ToolCalls), Results: slices.Clone(msgs[last+1:])}
}

func (s *tasks) unpause(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.paused = false
}

// Messages returns the history. It is valid to send at any time but while a turn runs.
func (r *Runtime) Messages() []model.Message { return slices.Clone(r.tasks.tree.Main().Messages()) }

// Inject appends a user message, without running anything. While a turn runs it waits until
// its results are there.
func (r *Runtime) Inject(m model.Message) error { return r.tasks.inject(m) }

// inject is Runtime.Inject.
func (s *tasks) inject(m model.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(m)
}

// put is inject. The caller holds s.mu.
func (s *tasks) put(m model.Message) error {
	if err := s.takes(m); err != nil {
		return err
	}
	p := s.newPrompt(m.Content, m.Images)
	switch t := s.main.task; {
	case t == nil:
		s.main.talk.Enter(0, p, event.Opening, conversation.Today(s.selection.Model().Info(), s.clock.now, s.clock.dates))
	case t.paused:
		s.main.talk.Enter(t.id, p, event.Steering, "")
	default:
		s.main.talk.Enqueue(p)
	}
	return nil
}

// SetTools changes what the model is offered from the next request on. Providers
// then have to read the whole conversation anew.
func (r *Runtime) SetTools(all *tools.Registry) { r.selection.SetTools(all) }

// begin opens the main task for a caller who drives it, with a message or, if m is nil,
// with what is in the history.
func (s *tasks) begin(ctx context.Context, m *model.Message) (context.Context, *task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.life.ended():
		return nil, nil, ErrClosed
	case s.main.task != nil:
		return nil, nil, fmt.Errorf("%w: task %d", ErrBusy, s.main.task.id)
	}
	var prompts []event.PromptSubmitted
	if m != nil {
		if err := s.takes(*m); err != nil {
			return nil, nil, err
		}
		prompts = []event.PromptSubmitted{s.newPrompt(m.Content, m.Images)}
	}
	working, t := s.open(ctx, s.main, event.TaskStarted{Kind: event.MainTask}, prompts)
	return working, t, nil
}

// verdict is the error of an outcome; nil for completed.
func verdict(ctx context.Context, outcome event.Outcome, err error) error {
	switch cause := context.Cause(ctx); {
	case outcome == event.MaxTurns:
		return ErrMaxTurns
	case outcome == event.MaxCost:
		return ErrMaxCost
	case outcome == event.Cancelled && !errors.Is(cause, ErrCancelled):
		return fmt.Errorf("%w: %w", ErrCancelled, cause)
	case outcome == event.Cancelled:
		return ErrCancelled
	}
	return err
}
