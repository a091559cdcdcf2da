package state

import (
	"iter"
	"slices"
)

const (
	nearParts = 2 // parts with blocks that are read above and below the screen
	farParts  = 3 // parts with blocks that stay there
)

// window holds the parts around the user's position that Trim has removed from State.Blocks and that were read back.
type window struct {
	from  int // number of the first one
	parts [][]*Block
}

func (w *window) to() int { return w.from + len(w.parts) }

// Shown returns the blocks to show: the end of the conversation with the parts before it that were read back, or only
// such parts if they are far above the end. above and below report whether blocks before and after these are not in
// memory.
func Shown(s *State) (blocks []*Block, above, below bool) {
	p, w := &s.parts, &s.window
	if len(w.parts) == 0 {
		return s.Blocks, s.kept != nil || p.gone > 0 && !p.lost, false
	}
	blocks = slices.Concat(w.parts...)
	if below = w.to() < p.gone; !below {
		blocks = append(blocks, s.Blocks...)
	}
	return blocks, w.from > 0 && !p.lost, below
}

// Short reports whether a rewind left so few blocks at the end that the parts before them are on the screen, too.
func Short(s *State) bool { return s.parts.gone > 0 && len(s.Blocks) < partBlocks }

// Whole reports whether all blocks of the session are in memory.
func (s *State) Whole() bool { return s.kept == nil && s.parts.gone == 0 }

// Near returns the part to read back next when the shown blocks from index first to last are on the screen. ok is false
// if none is needed. Unless hold is true, Near also drops parts that are far from the screen.
func Near(s *State, first, last int, hold bool) (part Part, ok bool, ch Changed) {
	p, w := &s.parts, &s.window
	if len(w.parts) == 0 {
		w.from = p.gone
	}
	a, b := w.partAt(first)-w.from, w.partAt(last)-w.from
	above, fewAbove := stay(slices.Backward(w.parts[:a]))
	below, fewBelow := stay(slices.All(w.parts[min(b+1, len(w.parts)):]))
	switch {
	case p.lost, s.kept != nil:
	case w.from > 0 && fewAbove && (len(w.parts) > 0 || first < partBlocks):
		part, ok = p.part(w.from-1), true
	case w.to() < p.gone && fewBelow:
		part, ok = p.part(w.to()), true
	}
	if high := b + 1 + below; high < len(w.parts) && !hold {
		w.parts, ch = slices.Delete(w.parts, high, len(w.parts)), Conversation
	}
	if low := a - above; low > 0 && !hold {
		w.parts, w.from, ch = slices.Delete(w.parts, 0, low), w.from+low, Conversation
	}
	return part, ok, ch
}

// stay returns how many of the parts on one side of the screen stay, and whether they are too few. parts has the
// nearest part first. Parts that a rewind has emptied do not count.
func stay(parts iter.Seq2[int, []*Block]) (n int, few bool) {
	filled := 0
	for _, blocks := range parts {
		if len(blocks) > 0 {
			filled++
		}
		if filled > farParts {
			break
		}
		n++
	}
	return n, filled < nearParts
}

// partAt returns the number of the part with a block. After the last part comes the end of the conversation.
func (w *window) partAt(block int) (n int) {
	for n = range w.parts {
		if block -= len(w.parts[n]); block < 0 {
			return w.from + n
		}
	}
	return w.to()
}

// Span returns the range of the parts that were read back and are shown, from <= n < to, and gone, the number of parts
// that Trim has dropped. If to equals gone, the end of the conversation follows.
func Span(s *State) (from, to, gone int) {
	if len(s.window.parts) == 0 {
		return s.parts.gone, s.parts.gone, s.parts.gone
	}
	return s.window.from, s.window.to(), s.parts.gone
}

// PartOf returns the number of the part of an event, which may still be in memory.
func PartOf(s *State, seq uint64) int {
	n, _ := slices.BinarySearchFunc(s.parts.ends, seq, func(m mark, seq uint64) int {
		if m.after < seq {
			return -1
		}
		return 1
	})
	return n
}

// Place returns the indices of a part's first and last block among the shown blocks. there reports whether at least one
// of its blocks is shown.
func Place(s *State, n int) (first, last int, there bool) {
	from, to, _ := Span(s)
	if n < from || n >= to {
		return 0, 0, false
	}
	for _, blocks := range s.window.parts[:n-from] {
		first += len(blocks)
	}
	last = first + len(s.window.parts[n-from]) - 1
	return first, last, last >= first
}

// Parts returns the dropped parts numbered from <= n < to.
func Parts(s *State, from, to int) (all []Part) {
	for n := from; n < to; n++ {
		all = append(all, s.parts.part(n))
	}
	return all
}

// Awaits reports whether the start of the session is missing until PrependState adds it.
func Awaits(s *State) bool { return s.kept != nil }

// Lost reports whether dropped parts can't be read back.
func Lost(s *State) bool { return s.parts.lost }

// Join adds the blocks of a part that was read back. If the part is not next to the shown parts, it replaces them if
// jump is set; otherwise it is ignored. It is also ignored if there was a rewind or redo after the reading began.
func Join(s *State, part Part, blocks []*Block, jump bool) Changed {
	p, w := &s.parts, &s.window
	if len(w.parts) == 0 {
		w.from = p.gone
	}
	switch {
	case len(part.steps) != len(p.steps), part.N >= w.from && part.N < w.to():
		return 0
	case part.N == w.from-1:
		w.from, w.parts = part.N, slices.Insert(w.parts, 0, blocks)
	case part.N == w.to() && part.N < p.gone:
		w.parts = append(w.parts, blocks)
	case jump:
		*w = window{part.N, [][]*Block{blocks}}
	default:
		return 0
	}
	for _, b := range blocks {
		if c := b.Call; c != nil && c.Agent != nil {
			if t := s.Tasks.Get(c.Agent.ID); t != nil {
				c.Agent = t
			}
		}
	}
	return Conversation
}

// Leave drops all parts that were read back, so that the end of the conversation is shown.
func Leave(s *State) Changed {
	if len(s.window.parts) == 0 {
		return 0
	}
	s.window = window{}
	return Conversation
}

// rewind drops the blocks of events with the number seq or a later one. If none are left, the end of the conversation
// is shown.
func (w *window) rewind(seq uint64) {
	left := 0
	for i, blocks := range w.parts {
		w.parts[i] = slices.DeleteFunc(blocks, func(b *Block) bool { return b.Seq >= seq && !b.parallel })
		left += len(w.parts[i])
	}
	if left == 0 {
		*w = window{}
	}
}

// cut drops the parts from number n on, which have to be read again.
func (w *window) cut(n int) {
	if n <= w.from {
		*w = window{}
	} else if n < w.to() {
		w.parts = slices.Delete(w.parts, n-w.from, len(w.parts))
	}
}

// Lose records that no part can be read back.
func Lose(s *State) Changed {
	s.parts.lost = true
	return Conversation
}

// Newest iterates over blocks from the last to the first.
func Newest(blocks []*Block) iter.Seq[*Block] {
	return func(yield func(*Block) bool) {
		for _, b := range slices.Backward(blocks) {
			if !yield(b) {
				return
			}
		}
	}
}
