package state

import (
	"math"
	"slices"

	"buddy/agent/event"
)

const (
	keepBlocks  = 500     // that Trim leaves at least, if there are so many
	keepBytes   = 2 << 20 // of their text; fewer blocks stay if they have more
	spareBlocks = 250     // Trim waits until so many can go, or so many bytes as stay
	callBytes   = 1 << 10 // that a call takes beside its texts
)

// trimming holds what Trim has done.
type trimming struct {
	done   bool // it has forgotten the first blocks
	looked int  // how many blocks there were when it looked last
}

// Long reports whether Trim may have something to forget. It is true once for so many new blocks, so that it
// costs nothing to ask after each event.
func Long(s *State) bool { return s.kept == nil && len(s.Blocks)-s.trimming.looked >= spareBlocks/8 }

// Trim forgets the oldest blocks of a long conversation, up to a place that lies well above its end;
// [Restore] brings them back from the session file, which must have all that happened to them. Only blocks
// go that no event changes any more. All else that the state knows stays.
func Trim(s *State) Changed {
	s.trimming.looked = len(s.Blocks)
	n := spare(s)
	if n == 0 || s.kept != nil {
		return 0
	}
	s.Blocks = slices.Clone(s.Blocks[n:]) // the others are to be collected
	s.trimming = trimming{done: true, looked: len(s.Blocks)}
	return Conversation
}

// spare returns how many of the oldest blocks can go.
func spare(s *State) (n int) {
	at, stay := len(s.Blocks), 0
	for at > 0 && len(s.Blocks)-at < keepBlocks && stay < keepBytes {
		at--
		stay += s.Blocks[at].size()
	}
	bytes, gone := 0, 0
	for i, b := range s.Blocks[:at] {
		if i > 0 && begins(s.Blocks[i-1], b) {
			n, gone = i, bytes
		}
		if !settled(s, b) {
			break
		}
		bytes += b.size()
	}
	if n < spareBlocks && gone < keepBytes {
		return 0
	}
	return n
}

// begins reports whether a prompt or an answer begins with a block, whose number is then above those of all
// blocks before it. Calls in a row, which may show as one line, stay together.
func begins(before, b *Block) bool {
	switch b.Kind {
	case UserBlock, AssistantBlock, ReasoningBlock:
		return before.last < b.Seq
	}
	return false
}

// settled reports whether no event changes a block any more.
func settled(s *State, b *Block) bool {
	if b.Open || b == s.Retries.block {
		return false
	}
	if c := b.Call; c != nil {
		return s.calls[c.ID] != b && (c.Agent == nil || c.Agent.State == TaskDone)
	}
	if b.Kind == WorkflowBlock {
		for _, w := range s.workflows {
			if w.block == b && !w.State.Ended() {
				return false
			}
		}
	}
	return true
}

// size estimates how many bytes a block takes.
func (b *Block) size() int {
	n := len(b.Text) + len(b.Raw)
	if c := b.Call; c != nil {
		n += callBytes + len(c.Arguments) + len(c.Action.Preview) + len(c.Result) + len(c.Output.Buf)
	}
	return n
}

// Trimmed reports whether Restore has something to bring back.
func Trimmed(s *State) bool { return s.trimming.done }

// Restore brings back what Trim has forgotten: whole is the session from its beginning on, folded by
// another goroutine, and is taken over. It must go on at least to what is still there.
// Blocks that are there keep their addresses. What the file does not have, because this screen alone
// told it, does not come back.
func Restore(s, whole *State) Changed {
	if !s.trimming.done {
		return 0
	}
	first := uint64(math.MaxUint64)
	if len(s.Blocks) > 0 {
		first = s.Blocks[0].Seq
	}
	n := slices.IndexFunc(whole.Blocks, func(b *Block) bool { return b.Seq >= first })
	if n < 0 {
		n = len(whole.Blocks)
	}
	for _, b := range whole.Blocks[:n] {
		if c := b.Call; c != nil && c.Agent != nil {
			if t := s.Tasks.Get(c.Agent.ID); t != nil {
				c.Agent = t
			}
		}
	}
	s.Back.restore(whole.Back.rewound)
	s.Blocks = append(whole.Blocks[:n:n], s.Blocks...)
	s.trimming = trimming{looked: len(s.Blocks)}
	return Conversation
}

// restore takes over what steps back took away, where a part of it had been forgotten.
func (w *WayBack) restore(whole []rewound) {
	for i := range w.rewound {
		for _, r := range whole {
			if r.at == w.rewound[i].at && len(r.blocks) > len(w.rewound[i].blocks) {
				w.rewound[i].blocks = r.blocks
			}
		}
	}
}

// Fold returns the State of a session whose events read passes to a function, in order, until that
// returns false. With all it has all blocks, else it is trimmed as it grows.
func Fold(all bool, read func(func(event.Envelope) bool) error) (*State, error) {
	s := new(State)
	err := read(func(env event.Envelope) bool {
		s.Apply(env)
		if !all && Long(s) {
			Trim(s)
		}
		return true
	})
	return s, err
}
