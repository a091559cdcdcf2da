package conversation

import (
	"slices"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/instructions"
	"buddy/agent/record"
)

// Past is the main conversation as it was at an earlier moment, while it is made of stored events.
type Past struct {
	was *Conversation
	all record.Record
}

// NewPast returns the beginning of the main conversation.
func NewPast(t *Tree) *Past {
	return &Past{was: newConversation(0, t.stream, history.New(""))}
}

// Take feeds the next event. Those of other conversations change nothing.
func (p *Past) Take(env event.Envelope) {
	if env.Branch == 0 {
		p.was.replay(env)
		Did(p.was, p.all.Apply(env))
	}
}

// Rewind makes the main conversation what it was, and calls publish, unless it is nil, under the lock of
// the conversation: that stores the event that says so. What waits to be told and the prompts that wait
// stay. The model has to read the files again that calls have read or written which it does not know
// any more.
func (t *Tree) Rewind(p *Past, publish func()) {
	c, was := t.main, p.was
	was.hist.Close(history.Unanswered)
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.readers != nil {
		t.readers.Unread(0, func(call string) bool { return !was.hist.Called(call) })
	}
	history.Succeed(was.hist, c.hist)
	was.known.calls, was.known.naming = nil, nil // the prompts that they are of were sent, or never will be
	was.known.below = c.known.below.in(was.hist)
	c.hist, c.recall, c.date, c.known, c.injected = was.hist, was.recall, was.date, was.known, was.injected
	if publish != nil {
		publish()
	}
}

// in returns what of it a history still has. Folders are looked at again.
func (b *below) in(h *history.History) below {
	files := slices.DeleteFunc(slices.Clone(b.set.Files), func(f instructions.File) bool { return !holds(h.Messages(), f.Text) })
	return below{set: instructions.Set{Files: files}}
}
