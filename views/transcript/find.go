package transcript

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/action"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/draw"
	"buddy/views/edit"
	"buddy/views/pattern"
)

const (
	maxFound  = 1000      // matches that are counted
	findSlice = 256 << 10 // bytes that are searched before anything else may happen
	findBlock = 64        // what looking at a block costs in such bytes, at least
)

// finder is a search in a conversation. It runs over what the blocks show when they are
// unfolded, a slice at a time: first to the match to go to, then around the view and
// outwards to count the rest.
type finder struct {
	pattern.Pattern
	prefilter pattern.Prefilter
	typing    bool   // the line that takes the text is open
	gen       int    // counts the texts that were looked for
	narrow    int    // the first of them that this one only adds to
	origin    anchor // the top row when typing began
	ended     bool   // the end was followed then
	at        match  // that was visited last
	visited   bool
	seek      seek
	lo, hi    int  // the blocks between them were counted
	waiting   bool // the next slice is on its way
}

// match is a place where the text was found.
type match struct {
	block, part, off int // part is headPart for the head of a call
	n                int // of how many before it in its block
}

const headPart = -1

// seek is the way to a match: onwards from a place, block by block.
type seek struct {
	by   int // 1 down, -1 up, 0 when nothing is sought
	from match
	left int // blocks
}

// found is what a block knows of the search.
type found struct {
	gen, count int
	open       bool // the block was still growing
}

// Find looks for a text and goes to the nearest match: the last one while the end is
// followed, else the first one from the top of the view on. It goes on in slices through
// Later. An empty text opens the line that takes one.
func (c *Conversation) Find(text string) {
	c.openFind()
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		c.findText(text)
		c.acceptFind()
	}
}

// EndFind ends a search and reports whether there was one.
func (c *Conversation) EndFind() bool {
	on := c.find.typing || c.find.Text != ""
	c.find = finder{gen: c.find.gen, waiting: c.find.waiting}
	return on
}

func (c *Conversation) openFind() {
	c.EndFind()
	c.find.typing, c.find.origin, c.find.ended = true, c.top, c.follow
}

// acceptFind closes the line and keeps the search.
func (c *Conversation) acceptFind() {
	f := &c.find
	f.typing = false
	if f.Text == "" {
		c.EndFind()
	} else if f.visited {
		c.visit(f.at)
	}
}

// cancelFind closes the line and goes back to where the search began.
func (c *Conversation) cancelFind() {
	c.returnToOrigin()
	c.EndFind()
}

func (c *Conversation) returnToOrigin() {
	if len(c.blocks) > 0 {
		c.top, c.follow = c.find.origin, c.find.ended
	}
}

// findText looks for another text, from where the search began.
func (c *Conversation) findText(text string) {
	f := &c.find
	if len(text) > pattern.MaxQuery || text == f.Text {
		return
	}
	f.gen++
	if f.Text == "" || !strings.HasPrefix(text, f.Text) {
		f.narrow = f.gen
	}
	f.Pattern, f.visited, f.seek = pattern.New(text), false, seek{}
	f.prefilter = pattern.NewPrefilter(&f.Pattern)
	c.returnToOrigin()
	if text == "" || len(c.blocks) == 0 {
		return
	}
	f.lo, f.hi = c.top.block, c.top.block
	if f.ended {
		c.startSeek(-1, match{block: len(c.blocks) - 1, part: math.MaxInt})
		return
	}
	from := match{block: min(c.top.block, len(c.blocks)-1), part: headPart, off: -1}
	if v := c.blocks[from.block]; !v.foldable() {
		if part, off := v.rowOffset(c.top.row); part >= 0 {
			from.part, from.off = part, off-1
		}
	}
	c.startSeek(1, from)
}

// FindNext goes to the next match, or to the one before if by is -1. After the last one
// comes the first.
func (c *Conversation) FindNext(by int) {
	if f := &c.find; f.Text != "" && f.visited {
		c.startSeek(by, f.at)
	}
}

func (c *Conversation) startSeek(by int, from match) {
	c.find.seek = seek{by, from, len(c.blocks) + 1}
	c.goOn()
}

// goOn searches a slice and asks for another turn if more is to be done.
func (c *Conversation) goOn() {
	f := &c.find
	for f.Text != "" && !f.waiting && (f.seek.by != 0 || c.uncounted()) {
		c.slice()
		if c.Later != nil {
			f.waiting = true
			c.Later(func() { c.find.waiting = false; c.goOn() })
		}
	}
}

// slice does as much of the search as may be done at once.
func (c *Conversation) slice() {
	budget := findSlice
	c.look(&budget)
	f := &c.find
	for total := c.tally().total; budget > 0 && total < maxFound && (f.lo > 0 || f.hi < len(c.blocks)); {
		block := f.lo - 1
		if f.hi < len(c.blocks) && (f.hi <= c.extent.last || f.lo == 0) {
			block = f.hi
		}
		f.lo, f.hi = min(f.lo, block), max(f.hi, block+1)
		known := c.blocks[block].found.gen == f.gen
		if n := c.count(block, &budget); !known {
			total += n
		}
	}
}

// uncounted reports whether there are blocks whose matches are to be counted.
func (c *Conversation) uncounted() bool {
	f := &c.find
	return (f.lo > 0 || f.hi < len(c.blocks)) && c.tally().total < maxFound
}

// look goes on seeking.
func (c *Conversation) look(budget *int) {
	s := &c.find.seek
	for s.by != 0 && *budget > 0 {
		if s.left == 0 {
			s.by = 0
			return
		}
		if c.count(s.from.block, budget) > 0 {
			if m, ok := c.nearest(s.from, s.by); ok {
				s.by = 0
				c.visit(m)
				return
			}
		}
		s.left--
		n := len(c.blocks)
		s.from = match{block: (s.from.block + s.by + n) % n, part: headPart, off: -1}
		if s.by < 0 {
			s.from.part = math.MaxInt
		}
	}
}

// nearest returns the match in the block of a place that comes next after it, or before it.
func (c *Conversation) nearest(from match, by int) (last match, ok bool) {
	n := 0
	for part, off := range c.matches(from.block) {
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

// visit shows a match. What hides it unfolds, unless the text is still being typed.
func (c *Conversation) visit(m match) {
	c.find.at, c.find.visited = m, true
	v := c.blocks[m.block]
	if v.foldable() && m.part != headPart && !c.find.typing {
		v.fold = unfolded
	}
	if c.size.h == 0 {
		return // not drawn yet
	}
	c.hold()
	c.focus = m.block
	row := v.gap
	if c.shows(m) {
		row = v.rowOf(m.part, m.off, row, c.size.w)
	}
	if a := (anchor{m.block, row}); a.before(c.top) || !a.before(c.ahead(c.top, c.size.h)) {
		c.top = c.back(a, c.size.h/3)
	}
}

// shows reports whether the part of a match is unfolded.
func (c *Conversation) shows(m match) bool {
	v := c.blocks[m.block]
	return m.part != headPart && (!v.foldable() || v.shown() == unfolded)
}

// count returns how many matches a block has, and takes what that costs off a budget.
func (c *Conversation) count(block int, budget *int) int {
	f, v := &c.find, c.blocks[block]
	*budget -= findBlock
	switch k := &v.found; {
	case k.open:
	case k.gen == f.gen:
		return k.count
	case k.gen >= f.narrow && k.count == 0:
		k.gen = f.gen // a longer text is not there either
		return 0
	}
	v.found = found{gen: f.gen, open: v.growing()}
	if *budget -= v.size() / pattern.PrefilterGain; f.surelyLacks(v) {
		return 0
	}
	for range c.matches(block) {
		v.found.count++
	}
	*budget -= v.size()
	return v.found.count
}

// tally is what is known of the matches.
type tally struct {
	total, before int  // all, and those in the blocks before the visited one
	all, placed   bool // whether nothing is missing in them
}

func (c *Conversation) tally() tally {
	t := tally{all: true, placed: true}
	for i, v := range c.blocks {
		if v.found.gen != c.find.gen {
			t.all = false
			t.placed = t.placed && i >= c.find.at.block
			continue
		}
		t.total += v.found.count
		if i < c.find.at.block {
			t.before += v.found.count
		}
	}
	return t
}

// findStatus says where the visited match is among all: 3 of 17.
func (c *Conversation) findStatus() string {
	f := &c.find
	if f.Text == "" {
		return ""
	}
	c.recount()
	t := c.tally()
	more := ""
	if !t.all {
		more = "+"
		if t.total >= maxFound {
			t.total = max(maxFound, t.before+f.at.n+1)
		}
	}
	switch {
	case t.total == 0 && t.all:
		return "nothing found"
	case t.total == 0:
		return "searching"
	case f.visited && t.placed:
		return fmt.Sprintf("%d of %d%s", t.before+f.at.n+1, t.total, more)
	}
	return fmt.Sprintf("%d%s found", t.total, more)
}

// recount looks again at blocks that grew when they were counted and do no more. They
// are among the last ones.
func (c *Conversation) recount() {
	for i := max(len(c.blocks)-keepLaid, 0); i < len(c.blocks); i++ {
		if v := c.blocks[i]; v.found.open && v.found.gen == c.find.gen && !v.growing() {
			budget := 0
			c.count(i, &budget)
		}
	}
}

// findMoved keeps the search when blocks came before those that there were.
func (c *Conversation) findMoved(moved map[int]int) {
	f := &c.find
	f.at.block, f.seek.from.block, f.origin.block = moved[f.at.block], moved[f.seek.from.block], moved[f.origin.block]
	f.lo, f.hi = c.top.block, c.top.block // known counts cost nothing
	if len(c.blocks) == 0 {
		c.EndFind()
	}
}

// findKey takes a key while the text is typed.
func (c *Conversation) findKey(ev *tcell.EventKey) {
	f := &c.find
	p := c.Keys.Lookup(ev, keymap.Finding)
	if p.Types() {
		c.findText(f.Text + p.Text)
		return
	}
	switch p.Action {
	case keymap.FindAccept:
		c.acceptFind()
	case keymap.FindClose:
		c.cancelFind()
	case keymap.FindErase:
		if f.Text == "" {
			c.cancelFind()
			return
		}
		c.findText(edit.DropLast(f.Text))
	}
}

// matches gives the part and the offset of each match in a block, in order.
func (c *Conversation) matches(block int) iter.Seq2[int, int] {
	return func(yield func(part, off int) bool) {
		for part, text := range c.blocks[block].texts(c.size.w) {
			for from, to := c.find.Next(text, 0); from >= 0; from, to = c.find.Next(text, to) {
				if !yield(part, from) {
					return
				}
			}
		}
	}
}

// texts gives what the block shows when it is unfolded: the head of a call, then the
// parts by number.
func (v *blockView) texts(width int) iter.Seq2[int, []byte] {
	return func(yield func(part int, text []byte) bool) {
		whole := v
		if v.laid == nil || v.foldable() && v.shown() != unfolded {
			whole = &blockView{block: v.block, cwd: v.cwd, shared: &shared{}, fold: unfolded} // not to be kept
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

// headSaysAll reports whether the last line of a call's details only repeats its head.
func (v *blockView) headSaysAll() bool {
	c := v.block.Call
	return c != nil && c.Action.Kind == action.Shell && c.Action.Command != "" && !strings.Contains(strings.TrimSpace(c.Action.Command), "\n")
}

// growing reports whether the block's text is not all there yet.
func (v *blockView) growing() bool {
	c := v.block.Call
	return v.block.Open || c != nil && (c.State == state.CallRequested || c.State == state.CallWaiting || c.State == state.CallRunning)
}

// size is how many bytes the block shows, about.
func (v *blockView) size() int {
	n := min(len(v.block.Text), maxShown)
	if c := v.block.Call; c != nil {
		n += len(c.Output.Buf) + len(c.Result) + len(c.Arguments)
	}
	return n
}
