package turn

import (
	"context"
	"errors"
	"fmt"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
)

// Compact runs a task that only compacts the conversation.
func (l *Loop) Compact(ctx context.Context, x *Exchange) (event.Outcome, error) {
	did := l.p.Compactor.Condense(ctx, x.work())
	if did != nil {
		l.moved(ctx, x, did)
	}
	switch {
	case ctx.Err() != nil:
		return event.Cancelled, nil
	case did == nil && x.room.Refused():
	case did == nil:
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: "nothing to compact: the newest messages, recent failures and pinned messages stay", Code: "compact"})
	default:
		l.p.Compactor.PublishUsage(x.conv, x.task, 0)
	}
	return event.Completed, nil
}

// moved updates the exchange after a compaction and runs the hooks.
func (l *Loop) moved(ctx context.Context, x *Exchange, did *event.ContextCompacted) {
	x.compacted = did
	if l.agent.Type == "" { // a subagent keeps its own prompt, and the instruction files are the main agent's
		l.p.Instructions.Stale()
	}
	if did.By != conversation.ByDigest {
		l.runHooks(ctx, x, ContextCompaction{OldTokens: did.Before, NewTokens: did.After})
	}
	l.compacted(ctx, x, did)
}

// maxMoves limits compactions before a single request: reminders that are sent again after a compaction may fill the
// window again.
const maxMoves = 10

// maxOverflows limits how often an exchange makes room because the provider requested it.
const maxOverflows = 5

// overflowed makes room after the provider reported, or may have meant, that the request was too long. It reports
// whether to send again.
func (l *Loop) overflowed(ctx context.Context, x *Exchange, err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || x.overflows == maxOverflows {
		return false
	}
	window, _ := l.p.Selection.Window()
	switch {
	case e.Kind == model.ContextError:
		learnWindow(l, x, e.Window)
	case !e.Refused() || x.conv.Tokens() <= window/2:
		return false
	}
	if e.Kind != model.ContextError || errors.Is(err, errFull) {
		x.overflows = maxOverflows - 1 // try once: more attempts would not help
	}
	x.overflows++
	did := l.p.Compactor.Overflowed(ctx, x.work())
	if did == nil {
		return false
	}
	l.moved(ctx, x, did)
	return true
}

// learnWindow records the context window that a server reports, if it is smaller than the known one.
func learnWindow(l *Loop, x *Exchange, tokens int) {
	info := l.model(x).Info()
	if was, known := l.p.Selection.Window(); tokens == 0 || known && was <= tokens {
		return
	}
	needs := model.Needs{Model: info.Model, BaseURL: info.BaseURL, Window: tokens, Text: fmt.Sprintf("%s takes %d tokens, according to its server: buddy now uses this as its context window", info.Model, tokens)}
	l.p.Selection.Learn(needs)
	l.p.Stream.Publish(x.task, 0, event.ContextHealed(needs))
}

// ContextLimitError ends an exchange that does not fit into the model's context window.
type ContextLimitError struct {
	Estimated int   // tokens of the conversation
	Limit     int   // tokens of the window; 0 if unknown
	Err       error // from the provider; nil if nothing was sent
}

// Error names both sizes and the next step.
func (e *ContextLimitError) Error() string {
	window := "the context window"
	if e.Limit > 0 {
		window = fmt.Sprintf("the context window of %d tokens", e.Limit)
	}
	if e.Err != nil {
		return fmt.Sprintf("%v (about %d tokens were sent; %s)", e.Err, e.Estimated, window)
	}
	return fmt.Sprintf("about %d tokens do not fit into %s; /compact shortens the conversation, /session new starts another one", e.Estimated, window)
}

// Unwrap returns the provider's error.
func (e *ContextLimitError) Unwrap() error { return e.Err }

// overLimit returns the error of an exchange that is too long; err is the provider's error. Unsent prompts leave the
// conversation, because with them nothing could be sent any more.
func overLimit(l *Loop, x *Exchange, err error) error {
	window, _ := l.p.Selection.Window()
	limit := &ContextLimitError{Estimated: x.conv.Tokens(), Limit: window, Err: err}
	takeBack(l, x, "it did not fit into the context window")
	return limit
}

// takeBack removes unanswered prompts from the conversation, and notifies the person.
func takeBack(l *Loop, x *Exchange, why string) {
	if len(x.unsent) > 0 {
		conversation.TakeBack(x.conv, x.task, x.unsent, why)
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: "the prompt could not be sent, so buddy removed it from the conversation", Code: "not_sent"})
	}
	x.unsent = nil
}
