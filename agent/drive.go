package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// Why a run ended without an answer, beside what models and adapters say.
var (
	ErrCancelled = errors.New("cancelled")
	ErrMaxTurns  = errors.New("max agentic loop iterations reached")     // A08
	ErrMaxCost   = errors.New("the exchange has cost as much as it may") // B29
	ErrBusy      = errors.New("another exchange is running")
	ErrClosed    = errors.New("the runtime is closed")
)

// ToolError is a tool that failed where Options.Strict ends the exchange (A20).
type ToolError struct{ Tool, Text string }

// Error names the tool and what it said.
func (e *ToolError) Error() string { return "the tool " + e.Tool + " failed: " + e.Text }

// Result is what an exchange came to (A11). Response is the text of the last answer, or
// what there is of it when the Outcome is not completed.
type Result struct {
	Response string
	Messages []model.Message // the whole history
	Usage    model.Usage     // of all requests, as far as the provider told
	Turns    int             // that were begun
	Outcome  event.Outcome
}

// Run drives one exchange from a user message to its outcome (A10). The error is nil
// only when the outcome is completed; the Result counts in every case. The history
// stays, so the next run goes on with the conversation.
//
// Start is not needed. Without it nobody can answer approvals, so what would need one
// is denied; see Options.Mode and Options.Policy.
func (r *Runtime) Run(ctx context.Context, m model.Message) (Result, error) {
	ctx, t, err := r.begin(ctx, &m)
	if err != nil {
		return Result{}, err
	}
	return r.runTask(ctx, t, r.exchange)
}

// RunText is Run with a text.
func (r *Runtime) RunText(ctx context.Context, text string) (Result, error) {
	return r.Run(ctx, model.Message{Role: model.User, Content: text})
}

// RunStream is Run that reports while it goes (A12). The channel has the events of the
// exchange and is closed after its task.finished; what goes wrong is an event.Error. A
// reader that leaves before that ends ctx, which cancels the exchange.
func (r *Runtime) RunStream(ctx context.Context, m model.Message) <-chan event.Envelope {
	out := make(chan event.Envelope)
	ctx, cancel := context.WithCancel(ctx)
	events := r.Subscribe(ctx)
	working, t, err := r.begin(ctx, &m)
	if err == nil {
		go func() { _, _ = r.runTask(working, t, r.exchange) }() // its events say how it ended
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

// Step is what one turn came to: a ToolsExecuted or a CompactionOccurred, after which there is more to do, or
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
	// MaxTurnsReached says that Options.MaxTurns were used up.
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

// RunStep is Run turn by turn (A13). The message is in the history when RunStep returns;
// ranging over the steps does the work, once. Between two steps the caller may look at
// Messages, Inject another one and change the tools with SetTools. Leaving the loop
// cancels the exchange; the history stays valid.
func (r *Runtime) RunStep(ctx context.Context, m model.Message) iter.Seq[Step] {
	err := r.prepare(m)
	return func(yield func(Step) bool) {
		var working context.Context
		var t *task
		if err == nil {
			working, t, err = r.begin(ctx, nil)
		}
		if err != nil {
			yield(Failure{Err: err})
			return
		}
		err = errors.New("these steps were taken already")
		r.steps(working, t, yield)
	}
}

// prepare enters the message of an exchange that begins later.
func (r *Runtime) prepare(m model.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.main.task; t != nil {
		return fmt.Errorf("%w: task %d", ErrBusy, t.id)
	}
	return r.inject(m)
}

func (r *Runtime) steps(ctx context.Context, t *task, yield func(Step) bool) {
	open := true
	defer func() {
		if open { // the caller has left, perhaps by a panic
			t.cancel(ErrCancelled)
			_, _ = r.endTask(ctx, t, event.Cancelled, nil)
		}
	}()
	for {
		outcome, err := r.guard(ctx, t, r.step)
		if outcome == "" {
			if !yield(r.pause(t)) {
				return
			}
			r.unpause(t)
			continue
		}
		open = false
		res, err := r.endTask(ctx, t, outcome, err)
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
func (r *Runtime) pause(t *task) Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.paused = true
	if c := t.compacted; c != nil {
		t.compacted = nil
		return *c
	}
	msgs := t.talk.hist.Messages()
	last := len(msgs) - 1
	for last > 0 && msgs[last].Role == model.Tool {
		last--
	}
	return ToolsExecuted{Calls: slices.Clone(msgs[last].ToolCalls), Results: slices.Clone(msgs[last+1:])}
}

func (r *Runtime) unpause(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.paused = false
}

// Messages returns the history. It is valid to send at any time but while a turn runs.
func (r *Runtime) Messages() []model.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.main.hist.Messages())
}

// Inject appends a user message, without running anything (A14). While a turn runs it
// waits until its results are there (B20).
func (r *Runtime) Inject(m model.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inject(m)
}

func (r *Runtime) inject(m model.Message) error {
	if err := r.takes(m); err != nil {
		return err
	}
	r.ids.prompt++
	p := event.PromptSubmitted{ID: r.ids.prompt, Text: m.Content, Images: m.Images}
	switch {
	case r.main.task == nil:
		r.enter(r.main, 0, p, event.Opening)
	case r.main.task.paused:
		r.enter(r.main, r.main.task.id, p, event.Steering)
	default:
		p.Queued = true
		r.main.queue = append(r.main.queue, p)
		r.emit(0, 0, p)
	}
	return nil
}

// SetTools changes what the model is offered from the next request on (A14). Providers
// then have to read the whole conversation anew.
func (r *Runtime) SetTools(all *tools.Registry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opts.Tools = all
}

// maxImages is how many pictures one message may carry.
const maxImages = 8

// takes says why a message can't be taken, or nil. The caller holds r.mu.
func (r *Runtime) takes(m model.Message) error {
	switch {
	case m.Role != model.User && m.Role != "":
		return fmt.Errorf("a message of role %q can't be sent (have: %s)", m.Role, model.User)
	case strings.TrimSpace(m.Content) == "":
		return errors.New("it is empty")
	case len(m.Images) > maxImages:
		return fmt.Errorf("it has %d images (allowed: %d)", len(m.Images), maxImages)
	case len(m.Images) > 0 && r.model.Info().TextOnly:
		return fmt.Errorf("%s takes no images", r.model.Info().Model)
	}
	for i, img := range m.Images {
		if err := img.Check(); err != nil {
			return fmt.Errorf("image %d: %w", i+1, err)
		}
	}
	if err := r.stream.ReadOnly(); err != nil {
		return fmt.Errorf("nothing can be recorded: %w", err)
	}
	return nil
}

// begin opens the main task for a caller who drives it, with a message or, if m is nil,
// with what is in the history.
func (r *Runtime) begin(ctx context.Context, m *model.Message) (context.Context, *task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ctx.Err() != nil:
		return nil, nil, ErrClosed
	case r.main.task != nil:
		return nil, nil, fmt.Errorf("%w: task %d", ErrBusy, r.main.task.id)
	}
	var prompts []event.PromptSubmitted
	if m != nil {
		if err := r.takes(*m); err != nil {
			return nil, nil, err
		}
		r.ids.prompt++
		prompts = []event.PromptSubmitted{{ID: r.ids.prompt, Text: m.Content, Images: m.Images}}
	}
	working, t := r.openTask(ctx, r.main, event.MainTask, prompts)
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
