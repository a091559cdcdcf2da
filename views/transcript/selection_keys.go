package transcript

import (
	"bytes"
	"unicode"

	"buddy/app/keymap"
	"buddy/views/edit"
	"buddy/views/markup"
)

// cursorAt returns where the head of a selection is shown, to put the cursor there.
func (c *Conversation) cursorAt() (a anchor, col int) {
	h := c.sel.head
	if h.block >= len(c.blocks) {
		return c.end(), 0
	}
	c.height(h.block)
	v := c.blocks[h.block]
	a = anchor{h.block, v.gap}
	if h.part != headPart {
		a.row = v.rowOf(h.part, h.off, v.gap, c.size.w)
	}
	r := v.rowText(a.row)
	if r.part == h.part && h.off >= r.from {
		col = r.col + markup.Width(r.text[r.from:min(h.off, r.to)])
	}
	return a, col
}

// startSelection begins a selection by keys: with the match that was searched for, else in
// the focused block where it shows first.
func (c *Conversation) startSelection() {
	if len(c.blocks) == 0 || c.size.h == 0 {
		return
	}
	a := anchor{c.focus, 0}
	if a.before(c.top) {
		a = c.top
	}
	c.hold()
	c.EndSelection()
	at := c.stretchAt(a, 0, byChar)
	if at.block >= len(c.blocks) { // nothing but rows without text
		return
	}
	head := at
	if from, to, ok := c.visitedMatch(); ok {
		at, head = from, to
	}
	c.sel.on, c.sel.keys, c.sel.anchor, c.sel.head, c.sel.goal = true, true, at, head, -1
}

// visitedMatch returns the first and the last character of the match that was visited last,
// if that is in the focused block and not folded.
func (c *Conversation) visitedMatch() (first, last stretch, ok bool) {
	m := c.find.at
	if c.find.Text == "" || !c.find.visited || m.block != c.focus {
		return first, last, false
	}
	text := c.textAt(spot{m.block, m.part, m.off})
	if m.off >= len(text) {
		return first, last, false
	}
	from, to := c.find.Next(text, m.off)
	if from != m.off || to <= from {
		return first, last, false
	}
	char := func(off int) stretch {
		_, end := byChar.around(text, off, len(text))
		return stretch{spot{m.block, m.part, off}, end}
	}
	return char(from), char(charBefore(text, to)), true
}

// selectKey does what a key means while something is selected.
func (c *Conversation) selectKey(a keymap.Action) {
	s := &c.sel
	switch a {
	case keymap.SelectCopy:
		c.CopySelection()
		return
	case keymap.SelectEnd:
		c.EndSelection()
		return
	case keymap.SelectHere:
		s.anchor, s.unit = s.head, byChar
	case keymap.SelectLines:
		s.unit = byLine
		s.anchor = c.grown(s.anchor)
	case keymap.SelectUp:
		c.moveHead(-1)
	case keymap.SelectDown:
		c.moveHead(1)
	case keymap.SelectPageUp:
		c.moveHead(-max(c.size.h-1, 1))
	case keymap.SelectPageDown:
		c.moveHead(max(c.size.h-1, 1))
	default:
		c.moveAlong(a)
	}
	s.head = c.grown(s.head)
	c.reveal()
}

// grown is a stretch of at least a unit.
func (c *Conversation) grown(s stretch) stretch {
	if s.block >= len(c.blocks) || c.sel.unit == byChar {
		return s
	}
	text := c.textAt(s.spot)
	from, to := c.sel.unit.around(text, min(s.off, len(text)), len(text))
	return stretch{spot{s.block, s.part, from}, to}
}

// textAt returns the text that a spot is in.
func (c *Conversation) textAt(s spot) []byte {
	c.height(s.block)
	for part, text := range c.blocks[s.block].visibleTexts() {
		if part == s.part {
			return text.Bytes
		}
	}
	return nil
}

// moveHead moves the head by rows, and over rows without text.
func (c *Conversation) moveHead(rows int) {
	a, col := c.cursorAt()
	s := &c.sel
	if s.goal < 0 {
		s.goal = col
	}
	for step := sign(rows); ; rows = step {
		next := c.ahead(a, rows)
		if rows < 0 {
			next = c.back(a, -rows)
		}
		if next == a || next.block >= len(c.blocks) {
			if next.block >= len(c.blocks) && rows > 1 {
				c.moveTo(anchor{len(c.blocks) - 1, c.height(len(c.blocks)-1) - 1})
			}
			return
		}
		if a = next; c.moveTo(a) {
			return
		}
	}
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// moveTo moves the head to a row, if that shows text.
func (c *Conversation) moveTo(a anchor) bool {
	c.height(a.block)
	r := c.blocks[a.block].rowText(a.row)
	if r.part == noPart {
		return false
	}
	off := r.at(c.sel.goal)
	_, to := byChar.around(r.text, off, r.to)
	c.sel.head = stretch{spot{a.block, r.part, off}, to}
	return true
}

// moveAlong moves the head along the text.
func (c *Conversation) moveAlong(a keymap.Action) {
	s := &c.sel
	s.goal = -1
	at, _ := c.cursorAt()
	if at.block >= len(c.blocks) {
		return
	}
	text := c.textAt(s.head.spot)
	r := c.blocks[at.block].rowText(at.row)
	off := min(s.head.off, len(text))
	switch a {
	case keymap.SelectLeft:
		off = charBefore(text, off)
	case keymap.SelectRight:
		off = min(s.head.end, len(text))
	case keymap.SelectWordLeft:
		off = wordBefore(text, off)
	case keymap.SelectWordRight:
		off = wordAfter(text, off)
	case keymap.SelectWordEnd:
		off = lastOfWord(text, min(s.head.end, len(text)))
	case keymap.SelectLineStart:
		off = r.from
	case keymap.SelectLineEnd:
		off = max(r.from, charBefore(text, r.to))
	case keymap.SelectTop:
		s.head = c.stretchAt(anchor{}, 0, byChar)
		return
	case keymap.SelectBottom:
		s.goal = 1 << 20
		last := len(c.blocks) - 1
		c.moveTo(anchor{last, c.height(last) - 1})
		s.goal = -1
		return
	}
	if off == s.head.off || off >= len(text) {
		c.moveOn(a)
		return
	}
	_, to := byChar.around(text, off, len(text))
	s.head = stretch{spot{s.head.block, s.head.part, off}, to}
}

// moveOn moves the head from the end of its text to the row after it, or before.
func (c *Conversation) moveOn(a keymap.Action) {
	s := &c.sel
	before := s.head
	switch s.goal = 0; a {
	case keymap.SelectLeft, keymap.SelectWordLeft:
		if a == keymap.SelectLeft {
			s.goal = 1 << 20
		}
		c.moveHead(-1)
	case keymap.SelectRight, keymap.SelectWordRight, keymap.SelectWordEnd:
		c.moveHead(1)
	}
	s.goal = -1
	if text := c.textAt(s.head.spot); a == keymap.SelectWordEnd && s.head != before {
		if off := lastOfWord(text, min(s.head.off, len(text))); off < len(text) {
			_, to := byChar.around(text, off, len(text))
			s.head = stretch{spot{s.head.block, s.head.part, off}, to}
		}
	}
}

// charBefore returns where the character before an offset begins.
func charBefore(text []byte, off int) int {
	if off == 0 {
		return 0
	}
	return edit.ClusterBefore(text, off)
}

// wordBefore returns where the word before an offset begins, wordAfter where the next one.
func wordBefore(text []byte, off int) int {
	before := bytes.TrimRightFunc(text[:off], unicode.IsSpace)
	return bytes.LastIndexFunc(before, unicode.IsSpace) + 1
}

// lastOfWord returns where the last character of the word begins that is next from an offset
// on; the end if there is none.
func lastOfWord(text []byte, off int) int {
	off += len(text[off:]) - len(bytes.TrimLeftFunc(text[off:], unicode.IsSpace))
	if off == len(text) {
		return off
	}
	end := bytes.IndexFunc(text[off:], unicode.IsSpace)
	if end < 0 {
		end = len(text) - off
	}
	return charBefore(text, off+end)
}

func wordAfter(text []byte, off int) int {
	rest := text[off:]
	word := bytes.IndexFunc(rest, unicode.IsSpace)
	if word < 0 {
		return len(text)
	}
	return off + len(rest) - len(bytes.TrimLeftFunc(rest[word:], unicode.IsSpace))
}

// reveal scrolls to the head of the selection.
func (c *Conversation) reveal() {
	a, _ := c.cursorAt()
	c.focus = min(a.block, len(c.blocks)-1)
	if a.before(c.top) {
		c.hold()
		c.top = a
	} else if !a.before(c.ahead(c.top, c.size.h)) {
		c.top = c.back(a, c.size.h-1)
	}
}
