package conversation

import (
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
)

// Plan is a planned cut of old messages.
type Plan struct {
	Cut     history.Cut
	Removed []model.Message // messages that the cut removes
	Earlier string          // earlier summary that the cut replaces
	Reads   []history.Read  // reads in the removed messages
	Visible []history.Read  // reads in the remaining messages
	Before  int             // estimated tokens of the history
}

// PlanCut plans a cut that keeps the newest messages: about the given number of tokens, and at most the given number of
// messages, 0 for any number.
func (c *Conversation) PlanCut(tokens, messages int) Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := Plan{Before: c.hist.Tokens()}
	p.Cut, p.Removed = c.hist.Older(tokens, messages)
	p.Earlier = c.hist.Earlier()
	p.Reads, p.Visible = c.hist.Reads(p.Removed), c.hist.Reads(c.hist.After(p.Cut))
	return p
}

// Cut makes a planned cut and returns its event. An error leaves the history unchanged.
func (c *Conversation) Cut(task int, by string, p Plan) (event.ContextCompacted, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	turns := c.hist.Turns(p.Cut)
	if err := c.hist.Apply(p.Cut); err != nil {
		return event.ContextCompacted{}, err
	}
	e := event.ContextCompacted{
		By: by, Summary: p.Cut.Summary, Restored: p.Cut.Restored, Before: p.Before, After: c.hist.Tokens(),
		Removed: len(p.Removed), Turns: turns, Boundary: p.Cut.Boundary, Kept: p.Cut.Kept,
	}
	c.date = ""
	c.known.forget()
	c.stream.Publish(task, 0, e)
	return e, nil
}

// ByDigest is the value of By for a compaction that replaced old exchanges with one line per operation.
const ByDigest = "digest"

// Digestible reports whether Digest would remove anything.
func Digestible(c *Conversation, target int, all bool) bool {
	return read(c, func(h *history.History) bool {
		if h.Tokens() <= target {
			return false
		}
		h = h.Clone()
		return history.Removable(h) || all && (history.CompactAll(h, target).Messages > 0 || len(history.ClearResults(h, target)) > 0)
	})
}

// Digest replaces old exchanges and turns with one line per operation until the history has at most target tokens, and
// reports whether it changed anything. If none could be replaced and all is true, it replaces all exchanges except the
// newest; if that is the only one, it clears results, oldest first.
func (c *Conversation) Digest(task, target int, all bool) (e event.ContextCompacted, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := history.CompactTurns(c.hist, target)
	if r.Messages == 0 && all {
		r = history.CompactAll(c.hist, target)
	}
	if e, ok = digested(c, task, r); ok || !all {
		return e, ok
	}
	if ids := history.ClearResults(c.hist, target); len(ids) > 0 {
		c.stream.Publish(task, 0, event.MicroCompacted{CallIDs: ids})
		e.After, ok = c.hist.Tokens(), true
	}
	return e, ok
}

// digested publishes a compaction if it has removed anything. The caller holds c.mu.
func digested(c *Conversation, task int, r history.Report) (e event.ContextCompacted, ok bool) {
	e = event.ContextCompacted{
		By: ByDigest, Summary: r.Summary, Before: r.Before, After: r.After,
		Removed: r.Messages, Turns: r.Turns, Boundary: r.Boundary, Kept: r.Kept,
	}
	if r.Messages == 0 {
		return e, false
	}
	c.date = ""
	c.known.forget()
	c.stream.Publish(task, 0, e)
	return e, true
}

// TakeBack removes prompts that could not be sent, and the reminders added with them.
func TakeBack(c *Conversation, task int, prompts []int, why string) {
	for _, id := range prompts {
		c.Block(task, event.PromptBlocked{ID: id, Reason: why})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	digested(c, task, history.CompactUnsent(c.hist))
}

// Unread returns the ids of the calls whose results have not been followed by an answer yet.
func Unread(c *Conversation) []string { return read(c, history.Unread) }

// Withhold hides results from models, because a provider's content policy refused them.
func Withhold(c *Conversation, task, turn int, e event.ContextWithheld) {
	c.mu.Lock()
	defer c.mu.Unlock()
	history.Withhold(c.hist, e.CallIDs)
	c.stream.Publish(task, turn, e)
}

// ClearOld removes the content of results that no longer matter, if that saves enough tokens. needed means that the
// context is filling up; then a smaller saving is enough.
func (c *Conversation) ClearOld(task int, needed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ids := c.hist.MicroCompact(needed); len(ids) > 0 {
		c.stream.Publish(task, 0, event.MicroCompacted{CallIDs: ids})
	}
}

// Sent marks the current history as sent, so that Calibrate relates a provider's count to it.
func (c *Conversation) Sent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hist.Sent()
}
