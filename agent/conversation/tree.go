package conversation

import (
	"slices"
	"sync"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/stream"
)

// Tree holds the conversations of a session: the main one, and those that forked off it, or that
// subagents have, and still work. It is safe for concurrent use; use NewTree.
type Tree struct {
	stream  *stream.Stream
	main    *Conversation
	readers Readers // nil: there are none

	mu    sync.Mutex // guards all below
	here  string     // where the models work
	last  int        // number of the newest fork
	forks map[int]*Conversation
}

// NewTree returns a main conversation that begins with a system prompt; a blank one adds no
// message.
func NewTree(s *stream.Stream, system string) *Tree {
	return &Tree{stream: s, main: newConversation(0, s, history.New(system)), forks: make(map[int]*Conversation)}
}

func newConversation(branch int, s *stream.Stream, h *history.History) *Conversation {
	return &Conversation{branch: branch, stream: s, hist: h, recall: Recall{History: h}}
}

// Main returns the main conversation.
func (t *Tree) Main() *Conversation { return t.main }

// Silence keeps reminders of some kinds from the models of all conversations. It is called before
// anybody else uses the tree.
func (t *Tree) Silence(off func(kind string) bool) { t.main.off = off }

// Readers keep which contents of files the models of conversations have read, by the number of the
// conversation: no file is replaced of which its model has not read what is there.
type Readers interface {
	// See lets a conversation know files that it has read or written in an earlier process: with the result of a
	// call, or for "" because its model was told what had changed in files that it knew.
	See(branch int, call string, files []action.SeenFile)
	// ForkReader lets the conversation to know the files that from knows now. What calls have read
	// that are under way it does not.
	ForkReader(from, to int, underWay func(call string) bool)
	// Unread lets a conversation no longer know the files that these calls have read or written last.
	Unread(branch int, by func(call string) bool)
	// EndReader forgets what a conversation knows.
	EndReader(branch int)
}

// Keep lets forks know the files that r has of the main conversation. It is called before anybody else
// uses the tree.
func (t *Tree) Keep(r Readers) { t.readers = r }

// At returns the conversation of a branch; nil when it has ended, or never was.
func (t *Tree) At(branch int) *Conversation {
	if branch == 0 {
		return t.main
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forks[branch]
}

// inProgress is the result, in a fork, of a call that the main conversation waits for.
const inProgress = "still running in the conversation that this one was forked from"

// Fork starts a conversation that goes on from where the main one is now, and knows the files that
// this one has read. made reports whether a call is one of those that the exchange of the main one
// makes, in an answer that is complete or not.
func (t *Tree) Fork(made func(call string) bool) *Conversation {
	c := t.forkNow()
	if t.readers != nil {
		t.readers.ForkReader(0, c.branch, func(call string) bool { return made(call) && !settled(c, call) })
	}
	return c
}

// forkNow is Fork but for the files.
func (t *Tree) forkNow() *Conversation {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.main.mu.Lock()
	defer t.main.mu.Unlock()
	c := t.fork()
	t.stream.Publish(0, 0, event.BranchStarted{Branch: c.branch, FromSeq: t.stream.Last(), Why: "bg"})
	return c
}

// settled reports whether the model of a conversation can read the result of a call.
func settled(c *Conversation, call string) bool {
	return slices.ContainsFunc(c.Messages(), func(m model.Message) bool {
		return m.Role == model.Tool && m.ToolCallID == call && m.Content != inProgress
	})
}

// fork is Fork without the event. The caller holds t.mu and that of the main conversation.
func (t *Tree) fork() *Conversation {
	t.last++
	c := newConversation(t.last, t.stream, t.main.hist.Clone())
	c.off = t.main.off
	c.news, c.date = slices.Clone(t.main.news), t.main.date
	c.known = t.main.known.clone()
	c.hist.Close(inProgress)
	t.forks[c.branch] = c
	return c
}

// Begin starts a conversation of a subagent, which a call in another one made: it has a system
// prompt of its own, and is told where it works.
func (t *Tree) Begin(from *Conversation, system string) *Conversation {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.begin(system)
	t.stream.Publish(0, 0, event.BranchStarted{Branch: c.branch, FromBranch: from.branch, FromSeq: t.stream.Last(), Why: event.ForSubagent})
	return c
}

// begin is Begin without the event. The caller holds t.mu.
func (t *Tree) begin(system string) *Conversation {
	t.last++
	c := newConversation(t.last, t.stream, history.New(system))
	history.SetHere(c.hist, t.here)
	c.own, c.off = true, t.main.off
	t.forks[c.branch] = c
	return c
}

// Forks returns how many forks still work.
func (t *Tree) Forks() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.forks)
}

// End removes a fork whose work is done.
func (t *Tree) End(branch int) {
	if t.readers != nil {
		t.readers.EndReader(branch)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.forks, branch)
}

// SetSystem replaces the system prompt of every conversation but those of subagents.
func (t *Tree) SetSystem(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.change(func(h *history.History) { h.SetSystem(text) })
}

// SetHere replaces what opens the person's first message in every conversation but those of subagents that work: where
// the model works.
func (t *Tree) SetHere(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.here = text
	t.change(func(h *history.History) { history.SetHere(h, text) })
}

// change changes the histories of all conversations but those of subagents. The caller holds t.mu.
func (t *Tree) change(change func(*history.History)) {
	all := []*Conversation{t.main}
	for _, c := range t.forks {
		if !c.own {
			all = append(all, c)
		}
	}
	for _, c := range all {
		c.mu.Lock()
		change(c.hist)
		c.mu.Unlock()
	}
}

// Replay feeds a stored event of an earlier process, before anybody else uses the tree, and
// returns the conversation that it belongs to; nil when that has ended, or the journal lacks
// its beginning.
func (t *Tree) Replay(env event.Envelope) *Conversation {
	if p, ok := env.Payload.(event.BranchStarted); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.main.mu.Lock()
		defer t.main.mu.Unlock()
		t.last = p.Branch - 1
		if p.Why == event.ForSubagent {
			t.begin("")
		} else {
			t.fork()
			if t.readers != nil {
				t.readers.ForkReader(0, p.Branch, func(string) bool { return false }) // what was under way has no result yet
			}
		}
		return nil
	}
	c := t.At(env.Branch)
	if c != nil {
		c.replay(env)
		if t.readers != nil {
			see(t.readers, env)
		}
	}
	return c
}

// AtFile is the id of the call that reads a file named in a prompt.
const AtFile = "at_file"

// see lets readers know what a stored event says of files.
func see(r Readers, env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ToolResult:
		r.See(env.Branch, p.CallID, p.Seen)
	case event.ReminderAttached:
		call := ""
		if slices.Contains(p.Kinds, reminder.AtFile) {
			call = AtFile
		}
		r.See(env.Branch, call, p.Seen)
	case event.FileRestored: // its model was told to read them again
		for _, f := range p.Kept {
			r.See(0, "", []action.SeenFile{{Target: p.Target, Path: f.Path}})
		}
	}
}
