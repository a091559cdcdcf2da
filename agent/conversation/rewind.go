package conversation

import (
	"slices"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/instructions"
	"buddy/agent/record"
)

// Past rebuilds the main conversation as it was at an earlier moment, from stored events.
type Past struct {
	was *Conversation
	all record.Record
}

// NewPast returns an empty main conversation.
func NewPast(t *Tree) *Past {
	return &Past{was: newConversation(0, t.stream, history.New(""))}
}

// Take processes the next event. Events of other conversations change nothing.
func (p *Past) Take(env event.Envelope) {
	if env.Branch == 0 {
		p.was.replay(env)
		Did(p.was, p.all.Apply(env))
	}
}

// Rewind replaces the main conversation by an earlier state. If publish is not nil, Rewind calls it under the
// conversation's lock to store the event of the rewind. Queued prompts and notes for the model stay. Files that only
// removed calls have read or written count as unread.
func (t *Tree) Rewind(p *Past, publish func()) {
	c, was := t.main, p.was
	was.hist.Close(history.Unanswered)
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.readers != nil {
		t.readers.Unread(0, func(call string) bool { return !was.hist.Called(call) })
	}
	history.Succeed(was.hist, c.hist)
	was.known.calls, was.known.naming = nil, nil // prompts of the past were sent, or never will be
	was.known.below = c.known.below.in(was.hist)
	c.hist, c.recall, c.date, c.known, c.injected = was.hist, was.recall, was.date, was.known, was.injected
	if publish != nil {
		publish()
	}
}

// in returns a copy without the files whose text a history does not contain. No folder counts as searched in it, so
// that all are searched again.
func (b *below) in(h *history.History) below {
	files := slices.DeleteFunc(slices.Clone(b.set.Files), func(f instructions.File) bool { return !holds(h.Messages(), f.Text) })
	return below{set: instructions.Set{Files: files}}
}
