package transcript

import (
	"bytes"
	"cmp"
	"unicode"

	"buddy/app/keymap"
	"buddy/views/edit"
	"buddy/views/markup"
)

// cursorAt returns the row and column of the selection's head.
func (s *selection) cursorAt(vp *viewport) (a anchor, col int) {
	h := s.head
	if h.block >= len(vp.blocks) {
		return vp.end(), 0
	}
	if vp.height(h.block) == 0 {
		a = anchor{block: vp.visible(h.block)}
		vp.height(a.block)
		return a, 0
	}
	v := vp.blocks[h.block]
	a = anchor{h.block, v.gap}
	if h.part != headPart {
		a.row = v.rowOf(h.part, h.off, v.gap, vp.size.w)
	}
	r := v.rowText(a.row)
	if r.part == h.part && h.off >= r.from {
		col = r.col + markup.Width(r.text[r.from:min(h.off, r.to)])
	}
	return a, col
}

// startSelection starts a selection by keys: the visited match, or else the first visible text of the focused block.
func (c *Conversation) startSelection() {
	if !c.view.drawn() {
		return
	}
	a := anchor{c.view.focus, 0}
	if a.before(c.view.top) {
		a = c.view.top
	}
	c.view.hold()
	c.sel = selection{}
	at := c.view.stretchAt(a, 0, byChar)
	if at.block >= len(c.view.blocks) { // only rows without text
		return
	}
	head := at
	if from, to, ok := c.find.visitedMatch(&c.view); ok {
		at, head = from, to
	}
	c.sel = selection{on: true, keys: true, anchor: at, head: head, goal: -1}
}

// visitedMatch returns the first and last character of the visited match, if it is in the focused block and unfolded.
func (f *finder) visitedMatch(vp *viewport) (first, last stretch, ok bool) {
	m := f.at
	if f.Text == "" || !f.visited || m.block != vp.focus {
		return first, last, false
	}
	text := vp.textAt(position{m.block, m.part, m.off})
	if m.off >= len(text) {
		return first, last, false
	}
	from, to := f.Next(text, m.off)
	if from != m.off || to <= from {
		return first, last, false
	}
	return charAt(text, m.block, m.part, from), charAt(text, m.block, m.part, charBefore(text, to)), true
}

// selectKey handles a key while text is selected.
func (c *Conversation) selectKey(a keymap.Action) {
	switch a {
	case keymap.SelectCopy:
		c.CopySelection()
	case keymap.SelectEnd:
		c.EndSelection()
	default:
		c.sel.move(&c.view, a)
	}
}

// move changes the selection by a key, and scrolls to its head.
func (s *selection) move(vp *viewport, a keymap.Action) {
	switch a {
	case keymap.SelectHere:
		s.anchor, s.unit = s.head, byChar
	case keymap.SelectLines:
		s.unit = byLine
		s.anchor = s.grown(vp, s.anchor)
	case keymap.SelectUp:
		s.moveHead(vp, -1)
	case keymap.SelectDown:
		s.moveHead(vp, 1)
	case keymap.SelectPageUp:
		s.moveHead(vp, -max(vp.size.h-1, 1))
	case keymap.SelectPageDown:
		s.moveHead(vp, max(vp.size.h-1, 1))
	default:
		s.moveAlong(vp, a)
	}
	s.head = s.grown(vp, s.head)
	s.reveal(vp)
}

// grown extends a stretch to whole units of the selection.
func (s *selection) grown(vp *viewport, t stretch) stretch {
	if t.block >= len(vp.blocks) || s.unit == byChar {
		return t
	}
	text := vp.textAt(t.position)
	from, to := s.unit.around(text, min(t.off, len(text)), len(text))
	return stretch{position{t.block, t.part, from}, to}
}

// textAt returns the text that contains a position.
func (vp *viewport) textAt(s position) []byte {
	if vp.height(s.block) == 0 {
		return nil
	}
	for part, text := range vp.blocks[s.block].visibleTexts() {
		if part == s.part {
			return text.Bytes
		}
	}
	return nil
}

// moveHead moves the head by rows, skipping rows without text.
func (s *selection) moveHead(vp *viewport, rows int) {
	a, col := s.cursorAt(vp)
	if s.goal < 0 {
		s.goal = col
	}
	for step := cmp.Compare(rows, 0); ; rows = step {
		next := vp.ahead(a, rows)
		if rows < 0 {
			next = vp.back(a, -rows)
		}
		if next == a || next.block >= len(vp.blocks) {
			if next.block >= len(vp.blocks) && rows > 1 {
				s.moveTo(vp, vp.lastRow())
			}
			return
		}
		if a = next; s.moveTo(vp, a) {
			return
		}
	}
}

// moveTo moves the head to a row, if it has text.
func (s *selection) moveTo(vp *viewport, a anchor) bool {
	if vp.height(a.block) == 0 {
		return false
	}
	r := vp.blocks[a.block].rowText(a.row)
	if r.part == noPart {
		return false
	}
	off := r.at(s.goal)
	_, to := byChar.around(r.text, off, r.to)
	s.head = stretch{position{a.block, r.part, off}, to}
	return true
}

// moveAlong moves the head by characters or words within the text.
func (s *selection) moveAlong(vp *viewport, a keymap.Action) {
	s.goal = -1
	at, _ := s.cursorAt(vp)
	if at.block >= len(vp.blocks) {
		return
	}
	text := vp.textAt(s.head.position)
	r := vp.blocks[at.block].rowText(at.row)
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
		s.head = vp.stretchAt(anchor{}, 0, byChar)
		return
	case keymap.SelectBottom:
		s.goal = 1 << 20
		s.moveTo(vp, vp.lastRow())
		s.goal = -1
		return
	}
	if off == s.head.off || off >= len(text) {
		s.moveOn(vp, a)
		return
	}
	s.head = charAt(text, s.head.block, s.head.part, off)
}

// moveOn moves the head from an end of its text to the next or previous row.
func (s *selection) moveOn(vp *viewport, a keymap.Action) {
	before := s.head
	switch s.goal = 0; a {
	case keymap.SelectLeft, keymap.SelectWordLeft:
		if a == keymap.SelectLeft {
			s.goal = 1 << 20
		}
		s.moveHead(vp, -1)
	case keymap.SelectRight, keymap.SelectWordRight, keymap.SelectWordEnd:
		s.moveHead(vp, 1)
	}
	s.goal = -1
	if text := vp.textAt(s.head.position); a == keymap.SelectWordEnd && s.head != before {
		if off := lastOfWord(text, min(s.head.off, len(text))); off < len(text) {
			s.head = charAt(text, s.head.block, s.head.part, off)
		}
	}
}

// charAt returns the character at an offset in the text of a part.
func charAt(text []byte, block, part, off int) stretch {
	_, end := byChar.around(text, off, len(text))
	return stretch{position{block, part, off}, end}
}

// charBefore returns the start of the character before an offset.
func charBefore(text []byte, off int) int {
	if off == 0 {
		return 0
	}
	return edit.ClusterBefore(text, off)
}

// wordBefore returns the start of the word before an offset.
func wordBefore(text []byte, off int) int {
	before := bytes.TrimRightFunc(text[:off], unicode.IsSpace)
	return bytes.LastIndexFunc(before, unicode.IsSpace) + 1
}

// lastOfWord returns the start of the last character of the next word from an offset, or the end.
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

// wordAfter returns the start of the word after an offset.
func wordAfter(text []byte, off int) int {
	rest := text[off:]
	word := bytes.IndexFunc(rest, unicode.IsSpace)
	if word < 0 {
		return len(text)
	}
	return off + len(rest) - len(bytes.TrimLeftFunc(rest[word:], unicode.IsSpace))
}

// reveal scrolls to the head of the selection.
func (s *selection) reveal(vp *viewport) {
	a, _ := s.cursorAt(vp)
	vp.focus = min(a.block, len(vp.blocks)-1)
	if a.before(vp.top) {
		vp.hold()
		vp.top = a
	} else if !a.before(vp.ahead(vp.top, vp.size.h)) {
		vp.top = vp.back(a, vp.size.h-1)
	}
}
