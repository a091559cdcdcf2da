package ui

import (
	"maps"

	"buddy/app/state"
	"buddy/views/transcript"
)

const (
	seekParts = 32       // parts searched before the screen is updated
	endSlice  = 64 << 10 // bytes of theEnd searched per frame
)

// theEnd and theRest take the place of a part's number: theEnd for the blocks that are always in memory, theRest for
// the blocks in which the search started.
const (
	theEnd  = -1
	theRest = -2
)

// sought holds the matches of a search in parts that are not in memory.
type sought struct {
	id     int                         // of the search
	counts map[int]int                 // matches, by part
	end    map[*state.Block]blockCount // by block of theEnd
	tried  map[int]bool                // parts in which the next match was looked for
}

// blockCount is the number of matches in a block when it had the change number gen and a text of size bytes.
type blockCount struct{ gen, size, count int }

// seekOn continues a search in the parts that are not in memory. It goes to the next match if the user wants it, else
// it counts matches.
func seekOn(u *UI) {
	search, ok := transcript.Sought(u.v.conversation)
	f := soughtFor(u, search, ok)
	if f == nil {
		return
	}
	showBeyond(u, f)
	if u.earlier.counts || u.earlier.reads || search.By == 0 && search.Full || state.Awaits(&u.state) {
		return
	}
	switch n, counted, ok := f.next(beyond(&u.state, search.By), search.By != 0); {
	case ok && counted:
		leadTo(u, f, n, search.By)
	case ok && n != theEnd:
		countParts(u, f, n, search.By)
	case ok: // a slice of theEnd is counted with each frame
	case search.By == 0:
	case f.tried[theRest]:
		transcript.EndSeek(u.v.conversation)
	default:
		leadTo(u, f, theRest, search.By)
	}
}

// next returns the first of the parts whose matches were not counted yet or, with wanted, that has a match and was not
// tried yet. ok is false if there is none.
func (f *sought) next(parts []int, wanted bool) (n int, counted, ok bool) {
	for _, n := range parts {
		count, known := f.counts[n]
		if !known || wanted && count > 0 && !f.tried[n] {
			return n, known, true
		}
	}
	return 0, false, false
}

// soughtFor returns the known matches of a search, nil if there is no search.
func soughtFor(u *UI, search transcript.Search, ok bool) *sought {
	e := &u.earlier
	if u.following.on() {
		return nil
	}
	if !ok {
		e.sought = nil
		return nil
	}
	if e.sought == nil || e.sought.id != search.ID {
		e.sought = nextSought(e.sought, search)
	}
	if !search.Seeks {
		e.sought.tried = make(map[int]bool)
	}
	return e.sought
}

// nextSought returns the counts that a new search can reuse from the previous one, which may be nil. If the new search
// text contains the previous one, a part without matches has none for the new text either.
func nextSought(before *sought, search transcript.Search) *sought {
	f := &sought{id: search.ID, counts: make(map[int]int), end: make(map[*state.Block]blockCount)}
	if before == nil || before.id < search.Adds {
		return f
	}
	for n, count := range before.counts {
		if count == 0 {
			f.counts[n] = 0
		}
	}
	for b, k := range before.end {
		if k.count == 0 {
			f.end[b] = k
		}
	}
	return f
}

// leadTo shows a part and seeks the next match in it.
func leadTo(u *UI, f *sought, n, by int) {
	if f.tried == nil {
		f.tried = make(map[int]bool)
	}
	f.tried[n] = true
	seek := func(first, last int) { transcript.SeekIn(u.v.conversation, first, last, by) }
	wanted := func() bool {
		search, ok := transcript.Sought(u.v.conversation)
		return ok && u.earlier.sought == f && search.ID == f.id && search.By == by
	}
	switch n {
	case theEnd:
		u.update(state.Leave(&u.state))
		seek(0, len(u.state.Blocks)-1)
	case theRest:
		all, _, _ := state.Shown(&u.state)
		seek(0, len(all)-1)
	default:
		showPart(u, n, wanted, func() {
			if first, last, there := state.Place(&u.state, n); there {
				seek(first, last)
			}
		})
	}
}

// beyond returns the readable parts that Shown does not return, in search order: from the shown parts to the end, then
// from the start.
func beyond(s *state.State, by int) (order []int) {
	from, to, gone := state.Span(s)
	below, lost := to < gone, state.Lost(s)
	for ; to < gone && !lost; to++ {
		order = append(order, to)
	}
	if below {
		order = append(order, theEnd)
	}
	for n := 0; n < from && !lost; n++ {
		order = append(order, n)
	}
	if by <= 0 {
		for i, j := 0, len(order)-1; i < j; i, j = i+1, j-1 {
			order[i], order[j] = order[j], order[i]
		}
	}
	return order
}

// showBeyond makes the conversation show how many matches are known outside the shown parts.
func showBeyond(u *UI, f *sought) {
	from, to, gone := state.Span(&u.state)
	above, below, all := 0, 0, true
	for n := range gone {
		count, known := f.counts[n]
		switch {
		case n >= from && n < to:
			continue
		case n < from:
			above += count
		default:
			below += count
		}
		all = all && known
	}
	if to < gone {
		n, counted := countEnd(u, f)
		delete(f.counts, theEnd)
		if counted {
			f.counts[theEnd] = n
		}
		below, all = below+n, all && counted
	}
	transcript.SetBeyond(u.v.conversation, above, below, all)
}

// countEnd counts the matches in theEnd. If that takes too long, all is false, and the count continues with the next
// frame.
func countEnd(u *UI, f *sought) (n int, all bool) {
	count, budget := transcript.Counter(u.v.conversation), endSlice
	before := f.end
	f.end, all = make(map[*state.Block]blockCount, len(before)), true // drops blocks that no longer exist
	for i, b := range u.state.Blocks {
		k, known := before[b]
		if !known || k.gen != b.Gen || k.size != len(b.Text) {
			if budget <= 0 {
				all = false
				continue
			}
			k = blockCount{b.Gen, len(b.Text), count(u.state.Blocks[i:i+1], &budget)}
		}
		f.end[b] = k
		n += k.count
	}
	if !all {
		u.deps.Later(func() {})
	}
	return n, all
}

// countParts counts the matches in up to seekParts uncounted parts, starting at n.
func countParts(u *UI, f *sought, n, by int) {
	from, to, gone := state.Span(&u.state)
	unknown := func(n int) bool {
		_, known := f.counts[n]
		return !known && n >= 0 && n < gone && (n < from || n >= to)
	}
	first, last := n, n
	for by > 0 && last-first+1 < seekParts && unknown(last+1) {
		last++
	}
	for by <= 0 && last-first+1 < seekParts && unknown(first-1) {
		first--
	}
	parts, count := state.Parts(&u.state, first, last+1), transcript.Counter(u.v.conversation)
	u.earlier.counts = true
	inBackground(u, func() func() {
		counts, budget := make(map[int]int), 0
		err := state.ReadParts(parts, u.deps.File.Read, func(p state.Part, blocks []*state.Block) bool {
			counts[p.N] = count(blocks, &budget)
			return true
		})
		return func() {
			u.earlier.counts = false
			maps.Copy(f.counts, counts)
			if err != nil {
				lose(u, err)
			}
		}
	})
}
