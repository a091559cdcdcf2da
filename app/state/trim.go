package state

import (
	"slices"

	"buddy/agent/event"
)

const (
	keepBlocks  = 500     // that Trim leaves at least, if there are so many
	keepBytes   = 2 << 20 // of their text; fewer blocks stay if they have more
	spareBlocks = 250     // Trim waits until so many can go, or so many bytes as stay
)

// Long reports whether Trim may have something to let go. It is true once for so many new blocks, so that it
// costs nothing to ask after each event.
func Long(s *State) bool { return s.kept == nil && len(s.Blocks)-s.parts.asked >= spareBlocks/8 }

// Trim lets the first parts of a long conversation go, up to a place that lies well above its end. They can be
// read back from the session file, which must have all that happened to them. For who looks at them they stay
// until [Near] lets them go. All else that the state knows stays.
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
	s.Blocks = slices.Clone(s.Blocks) // the others are to be collected
	p.asked = len(s.Blocks)
	return Conversation
}

// spare returns how many parts can be gone.
func spare(s *State) (end int) {
	at, stay := len(s.Blocks), 0
	for at > 0 && len(s.Blocks)-at < keepBlocks && stay < keepBytes {
		at--
		stay += s.Blocks[at].size()
	}
	if i := slices.IndexFunc(s.Blocks[:at], func(b *Block) bool { return b.Call != nil && slices.Contains(s.live, b.Call) }); i >= 0 {
		at = i // what it printed is not in the file as it shows
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

// cut returns how many blocks are of events up to one with a number.
func cut(blocks []*Block, last uint64) int {
	n := len(blocks)
	for n > 0 && blocks[n-1].Seq > last {
		n--
	}
	return n
}

// Fold returns the State of a session whose events read passes to a function, in order, until that
// returns false. It is trimmed as it grows.
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
