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
		return h.Tokens() > target && (history.Removable(h) || all && len(history.ClearResults(h.Clone(), target)) > 0)
	})
}

// Digest replaces old exchanges and turns by lines about them, down to so many tokens, and reports
// whether there were any. all means that it takes out the newest results if there is nothing else.
func (c *Conversation) Digest(task, target int, all bool) (e event.ContextCompacted, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := history.CompactTurns(c.hist, target)
	e = event.ContextCompacted{
		By: ByDigest, Summary: r.Summary, Before: r.Before, After: r.After,
		Removed: r.Messages, Turns: r.Turns, Boundary: r.Boundary, Kept: r.Kept,
	}
	if ok = r.Messages > 0; ok {
		c.date = ""
		c.known.forget()
		c.stream.Publish(task, 0, e)
	}
	if ok || !all {
		return e, ok
	}
	if ids := history.ClearResults(c.hist, target); len(ids) > 0 {
		c.stream.Publish(task, 0, event.MicroCompacted{CallIDs: ids})
		e.After, ok = c.hist.Tokens(), true
	}
	return e, ok
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
