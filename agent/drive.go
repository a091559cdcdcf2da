package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
	"buddy/tools"
)

// Reasons why a run ended without an answer, in addition to errors of models and adapters.
var (
	ErrCancelled = errors.New("cancelled")
	ErrMaxTurns  = errors.New("max agentic loop iterations reached")
	ErrMaxCost   = errors.New("the exchange reached its cost limit")
	ErrBusy      = errors.New("another exchange is running")
	ErrClosed    = errors.New("the runtime is closed")
)

// MaxTurnsError is the error returned with the outcome max_turns; errors.Is(err, ErrMaxTurns) is true.
type MaxTurnsError struct{ Turns int } // complete turns of the exchange, which are as many as it may have

// Error includes the number of turns.
func (e *MaxTurnsError) Error() string { return fmt.Sprintf("%v (%d)", ErrMaxTurns, e.Turns) }

// Unwrap returns ErrMaxTurns.
func (e *MaxTurnsError) Unwrap() error { return ErrMaxTurns }

// ToolError is the error returned when a failed tool has ended an exchange, see Options.Strict.
type ToolError = turn.ToolError

// ErrCutOff is returned when an answer is longer than the model's output limit.
var ErrCutOff = turn.ErrCutOff

// ContextStrategy decides when a conversation is compacted, and what stays of it. [SlidingWindow] implements it.
type ContextStrategy = compact.Strategy

// ContextState is the conversation that a ContextStrategy decides about.
type ContextState = compact.State

// ContextKept is the decision of a ContextStrategy.
type ContextKept = compact.Kept

// SlidingWindow keeps the newest messages and drops the others.
type SlidingWindow = compact.Sliding

// ContextLimitError is the error returned with the outcome context_limit. It holds the estimated size of the request
// and the context window.
type ContextLimitError = turn.ContextLimitError

// Result holds the result of an exchange. Response is the text of the last answer, which is incomplete unless the
// Outcome is completed.
type Result struct {
	Task     int // number in the session, as in the events
	Response string
	Messages []model.Message // the whole history
	Usage    model.Usage     // of all requests, as far as the provider reports it
	Cost     model.Money     // of all requests, as far as prices are known
	Turns    int             // complete turns: answered, and with all calls done
	Outcome  event.Outcome
}

// Run drives one exchange from a user message to its outcome. The error is nil only if the outcome is completed; the
// Result is valid in every case. The history stays, so the next run continues the conversation.
//
// Run does not need Start. Without Start nobody can answer approvals, so calls that need approval are denied; see
// Options.Mode and Options.Policy.
func (r *Runtime) Run(ctx context.Context, m model.Message) (Result, error) {
	ctx, t, err := r.tasks.begin(ctx, &m)
	if err != nil {
		return Result{}, err
	}
	return r.tasks.run(ctx, t, r.tasks.loop.Run)
}

// RunText is like Run, for a message that consists of a text.
func (r *Runtime) RunText(ctx context.Context, text string) (Result, error) {
	return r.Run(ctx, model.Message{Role: model.User, Content: text})
}

// RunStream is like Run, but returns the events of the exchange while it runs. The last event is task.finished; then
// the channel is closed. Failures are reported as event.Error. A caller that stops reading before the end must cancel
// ctx, which also cancels the exchange.
func (r *Runtime) RunStream(ctx context.Context, m model.Message) <-chan event.Envelope {
	out := make(chan event.Envelope)
	ctx, cancel := context.WithCancel(ctx)
	events := r.Subscribe(ctx)
	working, t, err := r.tasks.begin(ctx, &m)
	if err == nil {
		go func() { _, _ = r.tasks.run(working, t, r.tasks.loop.Run) }() // its events report how it ended
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

// Step is one step of an exchange. After ToolsExecuted and CompactionOccurred, another step follows; FinalResponse,
// MaxTurnsReached and Failure are the last step.
type Step interface{ step() }

type (
	// ToolsExecuted is a turn that called tools. Results holds tool messages in the order of Calls.
	ToolsExecuted struct {
		Calls   []model.ToolCall
		Results []model.Message
	}
	// CompactionOccurred is a step that shortened the history and sent no request.
	CompactionOccurred struct{ OldTokens, NewTokens int }
	// FinalResponse is the turn with the answer.
	FinalResponse struct{ Result Result }
	// MaxTurnsReached is an exchange that used up Options.MaxIterations.
	MaxTurnsReached struct{ Result Result }
	// Failure is an exchange that failed, was cancelled, or reached another limit.
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

// RunStep is like Run, but lets the caller act between two turns. It adds the message to the history at once; the
// exchange runs while the caller ranges over the steps, which is possible only once. Between two steps the caller may
// read Messages, Inject a message and change the tools with SetTools. Breaking out of the loop cancels the exchange;
// the history stays valid.
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

// prepare adds the message of an exchange to the history, before the exchange starts.
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
		if open { // the caller broke out of the loop or panicked
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

// pause marks that a task is between two steps, so that messages may be added to the history, and returns the step that
// has just ended.
func (s *tasks) pause(t *task) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.paused = true
	if c := t.x.TakeCompacted(); c != nil {
		return CompactionOccurred{OldTokens: c.Before, NewTokens: c.After}
	}
	msgs := t.on.conv.Messages()
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

// Messages returns the history. It can be sent to a model unless a turn is running, because its last calls may then
// have no results yet.
func (r *Runtime) Messages() []model.Message { return slices.Clone(r.tasks.tree.Main().Messages()) }

// Inject appends a user message without starting a task. While a turn runs, the message waits for the turn's results.
func (r *Runtime) Inject(m model.Message) error { return r.tasks.inject(m) }

func (s *tasks) inject(m model.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(m)
}

// put implements inject. The caller holds s.mu.
func (s *tasks) put(m model.Message) error {
	if err := s.refusal(m); err != nil {
		return fmt.Errorf("message not added: %w", err)
	}
	p := s.newPrompt(m.Content, m.Images)
	switch t := s.main.task; {
	case t == nil:
		s.main.conv.Enter(0, p, event.Opening, conversation.Today(s.selection.Model().Info(), s.clock.now, s.clock.dates))
	case t.paused:
		s.main.conv.Enter(t.id, p, event.Steering, "")
	default:
		s.main.conv.Enqueue(p)
	}
	return nil
}

// SetTools changes the tools offered from the next request on. Providers then have to process the whole conversation
// again.
func (r *Runtime) SetTools(all *tools.Registry) { r.selection.SetTools(all) }

// begin starts a main task with a message or, if m is nil, with the existing history. The caller then runs the task.
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
		if err := s.refusal(*m); err != nil {
			return nil, nil, fmt.Errorf("prompt not sent: %w", err)
		}
		prompts = []event.PromptSubmitted{s.newPrompt(m.Content, m.Images)}
	}
	working, t := s.open(ctx, s.main, event.TaskStarted{Kind: event.MainTask}, prompts)
	return working, t, nil
}

// verdict returns the error of an outcome after a number of complete turns; nil for completed.
func verdict(ctx context.Context, outcome event.Outcome, turns int, err error) error {
	switch cause := context.Cause(ctx); {
	case outcome == event.MaxTurns:
		return &MaxTurnsError{turns}
	case outcome == event.MaxCost:
		return ErrMaxCost
	case outcome == event.Cancelled && !errors.Is(cause, ErrCancelled):
		return fmt.Errorf("%w: %w", ErrCancelled, cause)
	case outcome == event.Cancelled:
		return cause
	}
	return err
}
