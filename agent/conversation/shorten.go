package conversation

import (
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
)

// Plan is a cut of old messages that was not made yet.
type Plan struct {
	Cut     history.Cut
	Removed []model.Message // that it takes out
	Earlier string          // the summary that it replaces
	Reads   []history.Read  // what the model read in the messages that go
	Visible []history.Read  // and in those that stay
	Before  int             // tokens of the history by estimate
}

// PlanCut plans to keep the newest messages: about so many tokens, and at most so many
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

// Cut makes a cut that was planned, and returns what it came to. After an error the history
// is as it was.
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

// ByDigest is By of a compaction that replaced old exchanges by lines about them.
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

// Digest replaces old exchanges and turns by lines about them, down to so many tokens, and reports
// whether there were any. all means that if there is nothing else it takes out all exchanges but the newest, and then the
// newest results.
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

// digested publishes a compaction of the history if it has removed anything. The caller holds c.mu.
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

// TakeBack removes prompts that could not be sent, with the reminders that came with them.
func TakeBack(c *Conversation, task int, prompts []int, why string) {
	for _, id := range prompts {
		c.Block(task, event.PromptBlocked{ID: id, Reason: why})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	digested(c, task, history.CompactUnsent(c.hist))
}

// Unread returns the ids of the calls whose results no model has answered to.
func Unread(c *Conversation) []string { return read(c, history.Unread) }

// Withhold keeps results from models that a provider's content policy refused.
func Withhold(c *Conversation, task, turn int, e event.ContextWithheld) {
	c.mu.Lock()
	defer c.mu.Unlock()
	history.Withhold(c.hist, e.CallIDs)
	c.stream.Publish(task, turn, e)
}

// ClearOld takes out results that no longer matter, if that is worth it, or room is needed.
func (c *Conversation) ClearOld(task int, needed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ids := c.hist.MicroCompact(needed); len(ids) > 0 {
		c.stream.Publish(task, 0, event.MicroCompacted{CallIDs: ids})
	}
}

// Sent notes that the history is about to be sent: what a provider counts is about this.
func (c *Conversation) Sent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hist.Sent()
}
