package transcript

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"strings"

	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/texts"
	"buddy/views/draw"
	"buddy/views/edit"
	"buddy/views/pattern"
)

const (
	maxFound  = 1000      // matches that are counted
	findSlice = 256 << 10 // bytes that are searched before other work may run
	findBlock = 64        // minimal cost of a block, in bytes of findSlice
)

// finder is a search in a conversation. It searches the unfolded texts of blocks, a slice at a time: first to the next
// match to visit, then around the view and outwards to count the others.
type finder struct {
	pattern.Pattern
	prefilter pattern.Prefilter
	typing    bool   // the search line is open
	gen       int    // generation of the text
	narrow    int    // the first generation whose text is a prefix of the present text
	home      bool   // the search started at origin
	origin    anchor // the top row when typing started
	ended     bool   // the view followed the end when typing started
	at        match  // the last visited match
	visited   bool
	seek      seek
	lo, hi    int  // blocks lo..hi are counted
	waiting   bool // the next slice is scheduled
	beyond    beyond
}

// match is a place where the text was found.
type match struct {
	block, part, off int // headPart for the head of a call
	n                int // number of matches before it in its block
}

const headPart = -1

// seek is a search for the next match from a place, block by block.
type seek struct {
	by        int // 1 down, -1 up, 0 no search
	from      match
	remaining int // blocks
}

// found is the search result of a block.
type found struct {
	gen, count int
	open       bool // the block was still growing
}

// Find searches for a text and goes to the nearest match: the last one if the view follows the end, else the first one
// from the top of the view. It continues in slices through Later. An empty text opens the search line.
func (c *Conversation) Find(text string) {
	c.find.open(&c.view)
	if text = texts.OneLine(text); text != "" {
		c.find.setText(&c.view, text)
		c.continueSearch()
		c.find.accept(&c.view)
	}
}

// EndFind ends a search, returns to its start, and reports whether there was one.
func (c *Conversation) EndFind() bool {
	on := c.find.on()
	c.find.cancel(&c.view)
	return on
}

// LeaveFind ends a search and keeps the present position.
func LeaveFind(c *Conversation) { c.find.end() }

// Finds reports whether a search is active.
func Finds(c *Conversation) bool { return c.find.on() }

// FindIn goes to the first match of a text in blocks, in which another search found the text. If these blocks show no
// match, it goes to the first of them, ends the search and reports false.
func (c *Conversation) FindIn(text string, blocks []int) bool {
	found := c.find.in(&c.view, text, blocks)
	c.continueSearch()
	return found
}

// FindNext goes to the next match, or the previous one if by is -1. The first match follows the last.
func (c *Conversation) FindNext(by int) {
	f := &c.find
	switch {
	case f.Text == "" || len(c.view.blocks) == 0 || f.seek.by != 0 || f.beyond.by != 0:
		return
	case f.visited:
		f.seekFrom(&c.view, by, f.at)
	default: // no match is visited, or it was unloaded
		f.seekFrom(&c.view, by, match{block: min(c.view.top.block, len(c.view.blocks)-1), part: headPart, off: -1})
	}
	c.continueSearch()
}

// continueSearch searches a slice and schedules the next one if necessary.
func (c *Conversation) continueSearch() {
	for f := &c.find; f.unfinished(&c.view); {
		f.slice(&c.view)
		if c.Later != nil {
			f.waiting = true
			c.Later(func() { c.find.waiting = false; c.continueSearch() })
		}
	}
}

// on reports whether a search is active.
func (f *finder) on() bool { return f.typing || f.Text != "" }

// end ends the search.
func (f *finder) end() { *f = finder{gen: f.gen, waiting: f.waiting} }

// open opens the search line.
func (f *finder) open(vp *viewport) {
	f.end()
	f.typing, f.home, f.origin, f.ended = true, true, vp.top, vp.follow
}

// accept closes the search line and keeps the search.
func (f *finder) accept(vp *viewport) {
	f.typing = false
	if f.Text == "" {
		f.end()
	} else if f.visited {
		f.visit(vp, f.at)
	}
}

// cancel ends the search and returns to its start, if that is still loaded.
func (f *finder) cancel(vp *viewport) {
	switch {
	case f.home && f.ended:
		vp.Bottom()
	case f.home:
		f.returnToOrigin(vp)
	}
	f.end()
}

// returnToOrigin scrolls back to where the search was opened.
func (f *finder) returnToOrigin(vp *viewport) {
	if len(vp.blocks) > 0 {
		vp.top, vp.follow = f.origin, f.ended
	}
}

// setText searches for another text, from the place where the search started.
func (f *finder) setText(vp *viewport, text string) {
	if len(text) > pattern.MaxQuery || text == f.Text {
		return
	}
	f.gen++
	if f.Text == "" || !strings.HasPrefix(text, f.Text) {
		f.narrow = f.gen
	}
	f.Pattern, f.visited, f.seek, f.beyond = pattern.New(text), false, seek{}, beyond{}
	f.prefilter = pattern.NewPrefilter(&f.Pattern)
	f.returnToOrigin(vp)
	if text != "" && len(vp.blocks) > 0 {
		f.start(vp)
	}
}

// start jumps to the match nearest to the viewport and starts counting matches from there.
func (f *finder) start(vp *viewport) {
	f.lo, f.hi = vp.top.block, vp.top.block
	if f.ended {
		f.seekFrom(vp, -1, match{block: len(vp.blocks) - 1, part: math.MaxInt})
		return
	}
	from := match{block: min(vp.top.block, len(vp.blocks)-1), part: headPart, off: -1}
	if v := vp.blocks[from.block]; !v.foldable() {
		if part, off := v.rowOffset(vp.top.row); part >= 0 {
			from.part, from.off = part, off-1
		}
	}
	f.seekFrom(vp, 1, from)
}

// seekFrom starts looking for the next match from a place.
func (f *finder) seekFrom(vp *viewport, by int, from match) {
	f.seek, f.beyond.by = seek{by, from, len(vp.blocks) + 1}, 0
}

// slice executes one slice of the search.
func (f *finder) slice(vp *viewport) {
	budget := findSlice
	f.look(vp, &budget)
	for total := f.tally(vp).total; budget > 0 && total < maxFound && (f.lo > 0 || f.hi < len(vp.blocks)); {
		block := f.lo - 1
		if f.hi < len(vp.blocks) && (f.hi <= vp.extent.last || f.lo == 0) {
			block = f.hi
		}
		f.lo, f.hi = min(f.lo, block), max(f.hi, block+1)
		known := vp.blocks[block].found.gen == f.gen
		if n := f.count(vp, block, &budget); !known {
			total += n
		}
	}
}

// unfinished reports whether another slice is necessary now.
func (f *finder) unfinished(vp *viewport) bool {
	if f.Text == "" || f.waiting {
		return false
	}
	return f.seek.by != 0 || (f.lo > 0 || f.hi < len(vp.blocks)) && f.tally(vp).total < maxFound
}

// look continues the search for the next match until the search or the budget ends.
func (f *finder) look(vp *viewport, budget *int) {
	s := &f.seek
	for s.by != 0 && *budget > 0 {
		if s.remaining == 0 {
			s.by = 0
			return
		}
		if f.count(vp, s.from.block, budget) > 0 {
			if m, ok := f.nearest(vp, s.from, s.by); ok {
				s.by = 0
				f.visit(vp, m)
				return
			}
		}
		s.remaining--
		n := len(vp.blocks)
		if next := s.from.block + s.by; (next < 0 || next >= n) && (vp.rest.above || vp.rest.below) {
			f.beyond.by, f.beyond.edge, s.by = s.by, s.from.block, 0
			return
		}
		s.from = edgeOf((s.from.block+s.by+n)%n, s.by)
	}
}

// nearest returns the next match after a place in its block, or the previous one.
func (f *finder) nearest(vp *viewport, from match, by int) (last match, ok bool) {
	n := 0
	for part, off := range f.matches(vp, from.block) {
		m := match{from.block, part, off, n}
		after := part > from.part || part == from.part && off > from.off
		before := part < from.part || part == from.part && off < from.off
		if by > 0 && after {
			return m, true
		}
		if by < 0 && !before {
			break
		}
		if by < 0 {
			last, ok = m, true
		}
		n++
	}
	return last, ok
}

// visit shows a match. It unfolds the block, unless the text is still being typed.
func (f *finder) visit(vp *viewport, m match) {
	f.at, f.visited = m, true
	v := vp.blocks[m.block]
	v.reveal()
	if v.foldable() && m.part != headPart && !f.typing {
		v.fold = unfolded
	}
	if vp.size.h == 0 {
		return // not drawn yet
	}
	vp.hold()
	vp.focus = m.block
	if a := (anchor{m.block, vp.rowOf(m)}); a.before(vp.top) || !a.before(vp.ahead(vp.top, vp.size.h)) {
		vp.top = vp.back(a, vp.size.h/3)
	}
}

// rowOf returns the row of a match in its block, or the first row if the match is not shown.
func (vp *viewport) rowOf(m match) int {
	v := vp.blocks[m.block]
	if !vp.shows(m) {
		return v.gap
	}
	return v.rowOf(m.part, m.off, v.gap, vp.size.w)
}

// shows reports whether the part of a match is unfolded.
func (vp *viewport) shows(m match) bool {
	v := vp.blocks[m.block]
	return m.part != headPart && (!v.foldable() || v.shown() == unfolded)
}

// count returns the number of matches in a block and subtracts its cost from a budget.
func (f *finder) count(vp *viewport, block int, budget *int) int {
	v := vp.blocks[block]
	*budget -= findBlock
	switch k := &v.found; {
	case k.open:
	case k.gen == f.gen:
		return k.count
	case k.gen >= f.narrow && k.count == 0:
		k.gen = f.gen // the longer text has no match either
		return 0
	}
	v.found = found{gen: f.gen, open: v.growing()}
	if *budget -= v.size() / pattern.PrefilterGain; f.surelyLacks(v) {
		return 0
	}
	for range f.matches(vp, block) {
		v.found.count++
	}
	*budget -= v.size()
	return v.found.count
}

// tally is the number of known matches.
type tally struct {
	total, before int  // matches in all blocks, and in the blocks before the visited one
	all, placed   bool // whether total and before are complete
}

// tally adds up the counts of the blocks.
func (f *finder) tally(vp *viewport) tally {
	t := tally{all: true, placed: true}
	if vp.rest.above || vp.rest.below {
		far := &f.beyond
		t = tally{far.above + far.below, far.above, far.all, far.all}
	}
	for i, v := range vp.blocks {
		if v.found.gen != f.gen {
			t.all = false
			t.placed = t.placed && i >= f.at.block
			continue
		}
		t.total += v.found.count
		if i < f.at.block {
			t.before += v.found.count
		}
	}
	return t
}

// status returns the number of the visited match: 3 of 17.
func (f *finder) status(vp *viewport) string {
	if f.Text == "" {
		return ""
	}
	f.recount(vp)
	t := f.tally(vp)
	more := ""
	if !t.all {
		more = "+"
		if t.total >= maxFound {
			t.total = max(maxFound, t.before+f.at.n+1)
		}
	}
	switch {
	case t.total == 0 && t.all:
		return "no match"
	case t.total == 0:
		return "searching"
	case f.visited && t.placed:
		return fmt.Sprintf("%d of %d%s", t.before+f.at.n+1, t.total, more)
	}
	return fmt.Sprintf("%d%s found", t.total, more)
}

// recount counts blocks again that have stopped growing since they were counted. Such blocks are among the last ones.
func (f *finder) recount(vp *viewport) {
	for i := max(len(vp.blocks)-keepLaid, 0); i < len(vp.blocks); i++ {
		if v := vp.blocks[i]; v.found.open && v.found.gen == f.gen && !v.growing() {
			budget := 0
			f.count(vp, i, &budget)
		}
	}
}

// key handles a key of the scope Finding while the text is typed.
func (f *finder) key(vp *viewport, p keymap.Press) {
	if p.Types() {
		f.setText(vp, f.Text+p.Text)
		return
	}
	switch p.Action {
	case keymap.FindAccept:
		f.accept(vp)
	case keymap.FindClose:
		f.cancel(vp)
	case keymap.FindErase:
		if f.Text == "" {
			f.cancel(vp)
			return
		}
		f.setText(vp, edit.DropLast(f.Text))
	}
}

// matches yields the part and offset of each match in a block, in order.
func (f *finder) matches(vp *viewport, block int) iter.Seq2[int, int] {
	return func(yield func(part, off int) bool) {
		for part, text := range vp.blocks[block].texts(vp.size.w) {
			for from, to := f.Next(text, 0); from >= 0; from, to = f.Next(text, to) {
				if !yield(part, from) {
					return
				}
			}
		}
	}
}

// texts yields the texts of the unfolded block: the head of a call, then the parts by number.
func (v *blockView) texts(width int) iter.Seq2[int, []byte] {
	return func(yield func(part int, text []byte) bool) {
		whole := v
		if v.laid == nil || v.foldable() && v.shown() != unfolded {
			whole = &blockView{block: v.block, cwd: v.cwd, shared: &shared{files: v.shared.files}, fold: unfolded} // not kept
		}
		l := whole.lay(max(width, 1))
		if v.block.Kind == state.ToolBlock && !yield(headPart, draw.Bytes(l.head)) {
			return
		}
		for i := range l.parts {
			text := l.parts[i].text.Bytes
			if i == 0 && v.headSaysAll() {
				text = text[:bytes.LastIndexByte(text, '\n')+1]
			}
			if !yield(i, text) {
				return
			}
		}
	}
}

// headSaysAll reports whether the last line of a call's details only repeats the head.
func (v *blockView) headSaysAll() bool {
	c := v.block.Call
	return c != nil && c.Action.Kind.IsCommand() && c.Action.Command != "" && !strings.Contains(strings.TrimSpace(c.Action.Command), "\n")
}

// growing reports whether the block's text is incomplete.
func (v *blockView) growing() bool {
	c := v.block.Call
	return v.block.Open || c != nil && (c.State == state.CallRequested || c.State == state.CallWaiting || c.State == state.CallTrying || c.State == state.CallRunning)
}

// size estimates the visible bytes of the block.
func (v *blockView) size() int {
	n := min(len(v.block.Text), maxShown)
	if c := v.block.Call; c != nil {
		n += len(c.Output.Buf) + len(c.Result) + len(c.Arguments)
	}
	return n
}

// in goes to the first match in some blocks and reports whether there is one. Without a match, it ends the search and
// shows the first of these blocks.
func (f *finder) in(vp *viewport, text string, blocks []int) bool {
	f.end()
	if len(blocks) == 0 || blocks[0] >= len(vp.blocks) {
		return false
	}
	if text != "" && len(text) <= pattern.MaxQuery {
		f.gen++
		f.narrow, f.Pattern = f.gen, pattern.New(text)
		f.lo, f.hi = blocks[0], blocks[0]
		for _, b := range blocks {
			if m, ok := f.nearest(vp, match{block: b, part: headPart, off: math.MinInt}, 1); ok {
				f.visit(vp, m)
				return true
			}
		}
		f.end()
	}
	vp.hold()
	vp.focus, vp.top = blocks[0], anchor{blocks[0], 0}
	if v := vp.blocks[blocks[0]]; v.foldable() {
		v.reveal()
		v.fold = unfolded
	}
	return false
}
