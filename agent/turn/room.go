package turn

import (
	"context"
	"errors"
	"fmt"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/selection"
)

// Compact is the work of a task that only compacts.
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
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: "nothing to compact: the newest messages, recent failures and what is pinned stay", Code: "compact"})
	default:
		l.p.Compactor.PublishUsage(x.talk, x.task, 0)
	}
	return event.Completed, nil
}

// moved takes up that the history was compacted.
func (l *Loop) moved(ctx context.Context, x *Exchange, did *event.ContextCompacted) {
	x.compacted = did
	if l.agent.Type == "" { // a subagent's own prompt stays, and that of others is none of its business
		l.p.Instructions.Stale()
	}
	l.p.Skills.Stale()
	if did.By != conversation.ByDigest {
		l.tell(ctx, x, ContextCompaction{OldTokens: did.Before, NewTokens: did.After})
	}
	l.compacted(ctx, x, did)
}

// maxOverflows limits how often an exchange makes room because the provider said so.
const maxOverflows = 3

// overflowed makes room because the provider said that the request was too long, and
// reports whether it is worth sending again.
func (l *Loop) overflowed(ctx context.Context, x *Exchange, err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.ContextError || x.overflows == maxOverflows {
		return false
	}
	if errors.Is(err, errFull) {
		x.overflows = maxOverflows - 1 // once: what does not help now will not later
	}
	x.overflows++
	did := l.p.Compactor.Overflowed(ctx, x.work())
	if did == nil {
		return false
	}
	l.moved(ctx, x, did)
	return true
}

// ContextLimitError ends an exchange that does not fit into the model's window.
type ContextLimitError struct {
	Estimated int   // tokens of the conversation
	Limit     int   // of the window; 0 is not known
	Err       error // what the provider said; nil if nothing was sent
}

// Error names both, and what to do.
func (e *ContextLimitError) Error() string {
	window := "the context window"
	if e.Limit > 0 {
		window = fmt.Sprintf("the context window of %d tokens", e.Limit)
	}
	if e.Err != nil {
		return fmt.Sprintf("%v (about %d tokens were sent; %s)", e.Err, e.Estimated, window)
	}
	return fmt.Sprintf("about %d tokens do not fit into %s; /compact makes the conversation shorter, /session new begins another one", e.Estimated, window)
}

// Unwrap returns what the provider said.
func (e *ContextLimitError) Unwrap() error { return e.Err }

// overLimit returns the error of an exchange that is too long; err is what the provider said of it.
func overLimit(on *selection.Selection, x *Exchange, err error) error {
	window, _ := on.Window()
	return &ContextLimitError{Estimated: x.talk.Tokens(), Limit: window, Err: err}
}
