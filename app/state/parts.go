package state

import (
	"maps"
	"slices"

	"buddy/agent/event"
	"buddy/agent/record"
)

const (
	partBlocks = 100       // a part ends at the next possible place after this number of blocks
	partBytes  = 256 << 10 // or after this number of bytes of text
	callBytes  = 1 << 10   // bytes of a call in addition to its texts
)

// mark is a position between two events where a conversation can be divided: no later event changes a block before it,
// and the blocks after it depend only on later events and on the mark.
type mark struct {
	after   uint64 // number of the last event before it; 0 is the start
	first   string // as in Info
	session event.SessionCreated
	steps   Steps
	tasks   []Task // running or interrupted tasks, which may still add blocks
}

// parts describes the parts into which the conversation is divided. The first parts may have been dropped from memory;
// State.Blocks holds the blocks of the others.
type parts struct {
	ends  []mark // of all parts except the growing one
	gone  int    // the number of first parts that Blocks lacks
	lost  bool   // whether they can't be read
	asked int    // the number of blocks at the last Trim

	looked        int // index of the first block that is not counted yet
	blocks, bytes int // counted so far in the growing part

	rewinds event.Rewinds
	steps   map[uint64]Steps // after each rewind or redo, by its event; never changed, only replaced
}

// divide ends the growing part after the event with the number seq, if the part is large enough and no later event can
// change its blocks.
func divide(s *State, seq uint64) {
	p := &s.parts
	if p.looked > len(s.Blocks) {
		p.looked = len(s.Blocks) // some were removed
	}
	if p.looked == len(s.Blocks) && p.blocks < partBlocks && p.bytes < partBytes || !settled(s) {
		return
	}
	for _, b := range s.Blocks[p.looked:] {
		p.blocks, p.bytes = p.blocks+1, p.bytes+b.size()
	}
	p.looked = len(s.Blocks)
	if p.blocks < partBlocks && p.bytes < partBytes {
		return
	}
	m := mark{after: seq, first: s.Info.First, session: s.Info.Event, steps: s.Steps}
	for _, t := range s.Tasks {
		if t.State == TaskDone && t.Outcome != record.Interrupted {
			continue
		}
		m.tasks = append(m.tasks, Task{ID: t.ID, Kind: t.Kind, Title: t.Title, State: t.State, Outcome: t.Outcome, Answer: t.Answer})
		if t.Agent != nil {
			m.tasks[len(m.tasks)-1].Agent = &Subagent{Name: t.Agent.Name, Talk: new(State)}
		}
	}
	p.ends = append(p.ends, m)
	p.blocks, p.bytes = 0, 0
}

// settled reports whether no later event can change an existing block. Parallel tasks don't matter, because they only
// add blocks. A running subagent matters, because its conversation belongs to the block of its call.
func settled(s *State) bool {
	if s.open != (openBlocks{}) || len(s.Questions) > 0 || s.Retries.block != nil && !s.Retries.came {
		return false
	}
	for _, b := range s.calls {
		if !b.parallel {
			return false
		}
	}
	for _, t := range s.Tasks {
		if t.Kind == event.SubagentTask && t.State != TaskDone {
			return false
		}
	}
	for _, w := range s.workflows {
		if !w.State.Ended() {
			return false
		}
	}
	return true
}

// size estimates the memory of a block in bytes.
func (b *Block) size() int {
	n := len(b.Text) + len(b.Raw)
	if c := b.Call; c != nil {
		n += callBytes + len(c.Arguments) + len(c.Action.Preview) + len(c.Result) + len(c.Output.Buf)
	}
	return n
}

// before returns the number of the last event whose blocks were dropped from memory, 0 for none.
func (p *parts) before() uint64 {
	if p.gone == 0 {
		return 0
	}
	return p.ends[p.gone-1].after
}

// noteRewound records the steps after a rewind or redo, on which later blocks depend.
func (p *parts) noteRewound(env event.Envelope, steps Steps) {
	all := map[uint64]Steps{env.Seq: steps}
	maps.Copy(all, p.steps)
	p.steps = all
	p.rewinds.Take(env)
}

// Part describes a part of a conversation, so that it can be read back on any goroutine.
type Part struct {
	N     int // its number, from 0
	from  mark
	to    uint64 // number of its last event
	steps map[uint64]Steps

	rewinds event.Rewinds
}

// part returns the part with the number n. The part must have ended.
func (p *parts) part(n int) Part {
	part := Part{N: n, to: p.ends[n].after, steps: p.steps, rewinds: p.rewinds}
	if n > 0 {
		part.from = p.ends[n-1]
	}
	return part
}

// ReadParts calls f with the blocks of consecutive parts, in order, until f returns false. read passes the stored
// events after a number to a function, in order, until the function returns false.
func ReadParts(parts []Part, read func(after uint64, f func(event.Envelope) bool) error, f func(Part, []*Block) bool) error {
	n, s := 0, parts[0].begin()
	pass := func() bool { // to the next part
		goes := f(parts[n], parts[n].end(s))
		if n++; n == len(parts) || !goes {
			n = len(parts)
			return false
		}
		s = parts[n].begin()
		return true
	}
	err := read(parts[0].from.after, func(env event.Envelope) bool {
		for env.Seq > parts[n].to {
			if !pass() {
				return false
			}
		}
		if r, ok := env.Payload.(event.HistoryRewound); ok && env.Branch == 0 {
			passRewound(s, env, r, parts[n].steps[env.Seq])
		} else {
			s.Apply(env)
		}
		return true
	})
	for err == nil && n < len(parts) && pass() {
	}
	return err
}

// begin returns the state that the blocks of a part depend on.
func (p *Part) begin() *State {
	s := &State{Info: Info{First: p.from.first, Event: p.from.session}, Steps: p.from.steps}
	for _, t := range p.from.tasks {
		s.Tasks = append(s.Tasks, &t)
	}
	return s
}

// end returns the blocks of a part, without what only the newest blocks keep and without rewound blocks.
func (p *Part) end(s *State) []*Block {
	for _, c := range s.live {
		c.Output = Tail{Gen: c.Output.Gen + 1} // only the last calls keep their output
	}
	return slices.DeleteFunc(s.Blocks, func(b *Block) bool { return !b.parallel && p.rewinds.Gone(b.Seq) })
}
