package turn

import (
	"context"
	"errors"
	"fmt"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
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
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: "nothing to compact: the newest messages, recent failures and pinned messages stay", Code: "compact"})
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
	if did.By != conversation.ByDigest {
		l.tell(ctx, x, ContextCompaction{OldTokens: did.Before, NewTokens: did.After})
	}
	l.compacted(ctx, x, did)
}

// maxMoves limits how often an exchange is compacted before a request: reminders sent again after that may fill the
// window again.
const maxMoves = 10

// maxOverflows limits how often an exchange makes room because the provider said so.
const maxOverflows = 5

// overflowed makes room because the provider said that the request was too long, or may have meant that, and
// reports whether it is worth sending again.
func (l *Loop) overflowed(ctx context.Context, x *Exchange, err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || x.overflows == maxOverflows {
		return false
	}
	window, _ := l.p.Selection.Window()
	switch {
	case e.Kind == model.ContextError:
		learnWindow(l, x, e.Window)
	case !e.Refused() || x.talk.Tokens() <= window/2:
		return false
	}
	if e.Kind != model.ContextError || errors.Is(err, errFull) {
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

// learnWindow notes how many tokens a server says that the model takes, if that is less than was known.
func learnWindow(l *Loop, x *Exchange, tokens int) {
	info := l.model(x).Info()
	if was, known := l.p.Selection.Window(); tokens == 0 || known && was <= tokens {
		return
	}
	needs := model.Needs{Model: info.Model, BaseURL: info.BaseURL, Window: tokens, Text: fmt.Sprintf("%s takes %d tokens, according to its server: buddy now uses this as its context window", info.Model, tokens)}
	l.p.Selection.Learn(needs)
	l.p.Stream.Publish(x.task, 0, event.ContextHealed(needs))
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
	return fmt.Sprintf("about %d tokens do not fit into %s; /compact shortens the conversation, /session new starts another one", e.Estimated, window)
}

// Unwrap returns what the provider said.
func (e *ContextLimitError) Unwrap() error { return e.Err }

// overLimit returns the error of an exchange that is too long; err is what the provider said of it. Prompts that could not be
// sent leave the conversation: with them nothing could be sent any more.
func overLimit(l *Loop, x *Exchange, err error) error {
	window, _ := l.p.Selection.Window()
	limit := &ContextLimitError{Estimated: x.talk.Tokens(), Limit: window, Err: err}
	takeBack(l, x, "it did not fit into the context window")
	return limit
}

// takeBack removes the prompts from the conversation that no model has answered, and says so.
func takeBack(l *Loop, x *Exchange, why string) {
	if len(x.unsent) > 0 {
		conversation.TakeBack(x.talk, x.task, x.unsent, why)
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: "the prompt could not be sent, so buddy removed it from the conversation", Code: "not_sent"})
	}
	x.unsent = nil
}
