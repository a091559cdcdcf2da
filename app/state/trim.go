package state

import (
	"slices"

	"buddy/agent/event"
)

const (
	keepBlocks  = 500     // blocks that Trim keeps at least
	keepBytes   = 2 << 20 // bytes of their text; if they have more, fewer blocks stay
	spareBlocks = 250     // Trim waits until it can drop this many blocks, or keepBytes
)

// Long reports whether Trim may drop blocks. It returns true only after a number of new blocks, so that it can be
// called after each event.
func Long(s *State) bool { return s.kept == nil && len(s.Blocks)-s.parts.asked >= spareBlocks/8 }

// Trim drops the first parts of a long conversation from memory, well above its end. They can be read back from the
// session file, which must have all their events. looksAt means that the user is looking at these parts; then they stay
// in memory until [Near] drops them.
func Trim(s *State, looksAt bool) Changed {
	p, w := &s.parts, &s.window
	p.asked = len(s.Blocks)
	end := spare(s)
	if end == p.gone || s.kept != nil {
		return 0
	}
	if len(w.parts) == 0 {
		w.from = p.gone
	}
	for looksAt = looksAt && w.to() == p.gone; p.gone < end; p.gone++ {
		n := cut(s.Blocks, p.ends[p.gone].after)
		if looksAt {
			w.parts = append(w.parts, s.Blocks[:n:n])
		}
		s.Blocks = s.Blocks[n:]
		p.looked = max(p.looked-n, 0)
	}
	s.Blocks = slices.Clone(s.Blocks) // lets the other blocks be collected
	p.asked = len(s.Blocks)
	return Conversation
}

// spare returns the number of first parts that need not be in memory.
func spare(s *State) (end int) {
	at, stay := len(s.Blocks), 0
	for at > 0 && len(s.Blocks)-at < keepBlocks && stay < keepBytes {
		at--
		stay += s.Blocks[at].size()
	}
	if i := slices.IndexFunc(s.Blocks[:at], func(b *Block) bool { return b.Call != nil && slices.Contains(s.live, b.Call) }); i >= 0 {
		at = i // the file does not have its output as it is shown
	}
	n := 0
	for end = len(s.parts.ends); end > s.parts.gone; end-- {
		if n = cut(s.Blocks, s.parts.ends[end-1].after); n <= at {
			break
		}
	}
	bytes := 0
	for _, b := range s.Blocks[:min(n, at)] {
		bytes += b.size()
	}
	if n < spareBlocks && bytes < keepBytes {
		return s.parts.gone
	}
	return end
}

// cut returns the number of blocks of events with numbers up to last.
func cut(blocks []*Block, last uint64) int {
	n := len(blocks)
	for n > 0 && blocks[n-1].Seq > last {
		n--
	}
	return n
}

// Fold returns the State of a session, trimmed as it grows. read passes the session's events to a function, in order,
// until the function returns false.
func Fold(read func(func(event.Envelope) bool) error) (*State, error) {
	s := new(State)
	err := read(func(env event.Envelope) bool {
		s.Apply(env)
		if Long(s) {
			Trim(s, false)
		}
		return true
	})
	return s, err
}
