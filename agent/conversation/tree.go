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

// Tree holds the active conversations of a session: the main one, its forks and those of subagents. It is safe for
// concurrent use; use NewTree.
type Tree struct {
	stream  *stream.Stream
	main    *Conversation
	readers Readers // may be nil

	mu    sync.Mutex // guards the fields below
	here  string     // text about where the models work
	last  int        // number of the newest fork
	forks map[int]*Conversation
}

// NewTree returns a tree with a main conversation that starts with a system prompt; an empty prompt adds no message.
func NewTree(s *stream.Stream, system string) *Tree {
	return &Tree{stream: s, main: newConversation(0, s, history.New(system)), forks: make(map[int]*Conversation)}
}

func newConversation(branch int, s *stream.Stream, h *history.History) *Conversation {
	return &Conversation{branch: branch, stream: s, hist: h, recall: Recall{History: h}}
}

// Main returns the main conversation.
func (t *Tree) Main() *Conversation { return t.main }

// Silence switches off kinds of reminders in all conversations. It must be called before any other use of the tree.
func (t *Tree) Silence(off func(kind string) bool) { t.main.off = off }

// Readers records which file contents the model of each conversation has read, so that a model can't overwrite a file
// whose current content it does not know.
type Readers interface {
	// See records files that a conversation has read or written in an earlier process. call is the id of the call; ""
	// means that a reminder reported a change of the files.
	See(branch int, call string, files []action.SeenFile)
	// ForkReader copies a conversation's records to its fork. It leaves out files read by calls that are under way.
	ForkReader(from, to int, underWay func(call string) bool)
	// Unread forgets each file whose latest read or write was made by a call for which by returns true.
	Unread(branch int, by func(call string) bool)
	// EndReader removes the records of a conversation.
	EndReader(branch int)
}

// Keep sets where the tree records the files that its conversations read. It must be called before any other use of the
// tree.
func (t *Tree) Keep(r Readers) { t.readers = r }

// At returns the conversation of a branch; nil if it has ended or never existed.
func (t *Tree) At(branch int) *Conversation {
	if branch == 0 {
		return t.main
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forks[branch]
}

// inProgress replaces, in a fork, the result of a call that is still running in the main conversation.
const inProgress = "still running in the conversation that this one was forked from"

// Fork starts a conversation with a copy of the main history. The fork also knows the files that the main conversation
// has read. made reports whether a call belongs to the running exchange of the main conversation, even to an answer
// that is still streaming.
func (t *Tree) Fork(made func(call string) bool) *Conversation {
	c := t.forkNow()
	if t.readers != nil {
		t.readers.ForkReader(0, c.branch, func(call string) bool { return made(call) && !settled(c, call) })
	}
	return c
}

// forkNow is like Fork, but does not copy the record of files read.
func (t *Tree) forkNow() *Conversation {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.main.mu.Lock()
	defer t.main.mu.Unlock()
	c := t.fork()
	t.stream.Publish(0, 0, event.BranchStarted{Branch: c.branch, FromSeq: t.stream.Last(), Why: "bg"})
	return c
}

// settled reports whether a conversation has the result of a call.
func settled(c *Conversation, call string) bool {
	return slices.ContainsFunc(c.Messages(), func(m model.Message) bool {
		return m.Role == model.Tool && m.ToolCallID == call && m.Content != inProgress
	})
}

// fork is like forkNow, but publishes no event. The caller holds t.mu and the lock of the main conversation.
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

// Begin starts the conversation of a subagent that a call in another conversation requested. The new conversation has
// its own system prompt and the text about where the subagent works.
func (t *Tree) Begin(from *Conversation, system string) *Conversation {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.begin(system)
	t.stream.Publish(0, 0, event.BranchStarted{Branch: c.branch, FromBranch: from.branch, FromSeq: t.stream.Last(), Why: event.ForSubagent})
	return c
}

// begin is like Begin, but publishes no event. The caller holds t.mu.
func (t *Tree) begin(system string) *Conversation {
	t.last++
	c := newConversation(t.last, t.stream, history.New(system))
	history.SetHere(c.hist, t.here)
	c.own, c.off = true, t.main.off
	t.forks[c.branch] = c
	return c
}

// Forks returns the number of active forks.
func (t *Tree) Forks() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.forks)
}

// End removes a fork after its work.
func (t *Tree) End(branch int) {
	if t.readers != nil {
		t.readers.EndReader(branch)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.forks, branch)
}

// SetSystem replaces the system prompt of every conversation except those of subagents.
func (t *Tree) SetSystem(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.change(func(h *history.History) { h.SetSystem(text) })
}

// SetHere replaces the text about where the model works, which precedes the user's first message. It does not affect
// subagents that are already active.
func (t *Tree) SetHere(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.here = text
	t.change(func(h *history.History) { history.SetHere(h, text) })
}

// change calls the given function with the history of each conversation that is not a subagent's. The caller holds
// t.mu.
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

// Replay processes a stored event. It must be called before any other use of the tree. It returns the event's
// conversation, nil if the conversation has ended or its start is not in the journal.
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
				t.readers.ForkReader(0, p.Branch, func(string) bool { return false }) // calls under way have no result yet
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

// AtFile is recorded in place of a call's id for a file that was read because a prompt named it.
const AtFile = "at_file"

// see records the files in a stored event.
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
	case event.FileRestored: // a reminder asks the model to read the files again
		for _, f := range p.Kept {
			r.See(0, "", []action.SeenFile{{Target: p.Target, Path: f.Path}})
		}
	}
}
