package screen

import (
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// frame holds the cells and the cursor of the frame being drawn and of the frame that the terminal shows. Only the UI
// goroutine uses it.
type frame struct {
	w, h        int
	back, front []cell        // being drawn, and shown
	ink         ink           // of both
	encoder     *styleEncoder // for the terminal
	cursor      cursor
	skip        bool // the next Show does nothing
	stale       bool // the terminal needs a full repaint

	// A clear is delayed until something is drawn: tview clears before it asks whether to draw at all, and a skipped
	// draw must not lose the last frame.
	clearing bool
	blank    cell
}

// cursor holds the wanted and the shown position of the cursor. At -1, -1 it is hidden.
type cursor struct {
	x, y           int
	shownX, shownY int
}

func newFrame() frame {
	return frame{ink: newInk(), cursor: cursor{x: -1, y: -1, shownX: -1, shownY: -1}}
}

// fit sets the size of the frame to the terminal's size. cut means that the terminal had another size since the last
// frame and may have lost cells.
func (f *frame) fit(w, h int, cut bool) {
	if w != f.w || h != f.h {
		f.resize(w, h)
		f.stale = true
	}
	f.stale = f.stale || cut
}

func (f *frame) resize(w, h int) {
	f.w, f.h = w, h
	f.back, f.front = make([]cell, w*h), make([]cell, w*h)
	f.ink = newInk()
	f.blank = cell{text: ' ', width: 1}
	f.fill(f.blank)
}

// shown drops unused styles and texts once the terminal shows the frame.
func (f *frame) shown() {
	old := f.ink
	if old.size() < manyInks+len(f.back) {
		return
	}
	f.ink = newInk()
	move := func(c *cell) {
		c.text, c.style = f.ink.text(old.string(c.text)), f.ink.style(old.styles[c.style])
	}
	for i := range f.back {
		move(&f.back[i])
	}
	move(&f.blank)
	copy(f.front, f.back)
}

// forward writes the cells that differ from the shown frame, and reports whether anything has changed.
func (f *frame) forward(o *output) (changed bool) {
	for y := range f.h {
		if f.forwardRow(o, y) {
			changed = true
		}
	}
	f.shown()
	c := &f.cursor
	if c.x != c.shownX || c.y != c.shownY {
		c.shownX, c.shownY = c.x, c.y
		changed = true
	}
	return changed
}

// forwardRow is forward for one row. A cell under the right half of a wide text is not written until that text
// disappears.
func (f *frame) forwardRow(o *output, y int) (changed bool) {
	back, front := f.row(f.back, y), f.row(f.front, y)
	if o.wraps && y == f.h-1 {
		back = back[:len(back)-1]
	}
	for x := 0; x < len(back); x++ {
		c, old := back[x], front[x]
		if c != old {
			if old.width != 1 || c.width != 1 {
				invalidate(front, x, c, old)
			}
			o.cell(x, y, f.encoder.text(f.ink.string(c.text), int(c.width)), int(c.width), f.encoded(c.style))
			front[x] = c
			changed = true
		}
		if c.width > 1 && x+1 < len(back) {
			x++
			front[x] = back[x]
		}
	}
	return changed
}

// invalidate marks cells whose contents are unknown once c is written over old at x: the right half of old if old is
// wide, and the right half of a wide text whose left half c covers.
func invalidate(front []cell, x int, c, old cell) {
	if c.width > 1 && x+2 < len(front) && front[x+1].width > 1 {
		front[x+2] = cell{}
	}
	if old.width > 1 && x+1 < len(front) {
		front[x+1] = cell{}
	}
}

// encoded returns the sequences that select a style. They are encoded when the style is first used.
func (f *frame) encoded(style uint32) *encodedStyle {
	l := &f.ink.encoded[style]
	if !l.known {
		*l = f.encoder.encode(f.ink.styles[style])
	}
	return l
}

// gap returns the n shown characters from x, y on. It returns nil unless all are ASCII and have the same style as the
// cell before them, without a link. It is called on the UI goroutine while a frame is written.
func (f *frame) gap(x, y, n int) []byte {
	if x < 1 || y < 0 || y >= f.h || x+n > f.w {
		return nil
	}
	row := f.row(f.front, y)
	style := row[x-1].style
	if f.encoded(style).link != "" {
		return nil
	}
	text := make([]byte, 0, shortGap)
	for _, c := range row[x : x+n] {
		if c.text < ' ' || c.text >= utf8.RuneSelf || c.style != style {
			return nil
		}
		text = append(text, byte(c.text))
	}
	return text
}

// markBlank records that the terminal has been cleared.
func (f *frame) markBlank() {
	for i := range f.front {
		f.front[i] = blankCell
	}
}

func (f *frame) fill(c cell) {
	for i := range f.back {
		f.back[i] = c
	}
}

// settle carries out a delayed Clear.
func (f *frame) settle() {
	if f.clearing {
		f.clearing = false
		f.fill(f.blank)
	}
}

func (f *frame) at(x, y int) *cell {
	if x < 0 || y < 0 || x >= f.w || y >= f.h {
		return nil
	}
	return &f.back[y*f.w+x]
}

// set stores a clean text. If the text covers half of a wide text, the other half is removed; the cell under a wide
// text holds a space.
func (f *frame) set(x, y int, text uint32, width int, style tcell.Style) {
	c := f.at(x, y)
	if c == nil {
		return
	}
	f.part(x, y)
	*c = cell{text, f.ink.style(f.over(c, style)), uint8(width)}
	if width > 1 && x+1 < f.w {
		f.back[y*f.w+x+1] = cell{' ', c.style, 1}
	}
}

// part removes the wide text whose right half is at x, y, if any.
func (f *frame) part(x, y int) {
	if x == 0 {
		return
	}
	if left := &f.back[y*f.w+x-1]; left.width == 2 {
		left.text, left.width = ' ', 1
	}
}

// over returns a style with its missing colours taken from a cell.
func (f *frame) over(c *cell, style tcell.Style) tcell.Style {
	if fg, bg, _ := style.Decompose(); fg == tcell.ColorNone || bg == tcell.ColorNone {
		oldFg, oldBg, _ := f.ink.styles[c.style].Decompose()
		if fg == tcell.ColorNone {
			style = style.Foreground(oldFg)
		}
		if bg == tcell.ColorNone {
			style = style.Background(oldBg)
		}
	}
	return style
}

func seeThrough(style tcell.Style) bool {
	fg, bg, _ := style.Decompose()
	return fg == tcell.ColorNone || bg == tcell.ColorNone
}

// setRunes is set for text that has not been cleaned.
func (f *frame) setRunes(x, y int, primary rune, combining []rune, style tcell.Style) {
	if primary == 0 && len(combining) == 0 {
		if c := f.at(x-1, y); c != nil && c.width == 2 {
			return // the right half of a wide text
		}
		primary = ' '
	}
	if primary >= ' ' && primary < 0x7f && len(combining) == 0 {
		f.set(x, y, uint32(primary), 1, style)
		return
	}
	if c := f.at(x, y); c != nil {
		// Most cells keep their text, which was cleaned when it was first set.
		if old := &f.front[y*f.w+x]; old.width > 0 && f.ink.is(old.text, primary, combining) {
			f.set(x, y, old.text, int(old.width), style)
			return
		}
		text, width := f.ink.rune(primary)
		if len(combining) > 0 {
			text, width = cleanCluster(string(append([]rune{primary}, combining...)))
		}
		f.set(x, y, f.ink.text(text), max(width, 1), style)
	}
}

// Clear blanks the next frame. It costs nothing until something is drawn.
func (s *Screen) Clear() { s.Fill(' ', tcell.StyleDefault) }

// Fill sets every cell of the next frame to r, and resizes that frame to the terminal.
func (s *Screen) Fill(r rune, style tcell.Style) {
	cut := s.inbox.cut.Swap(false) // before the size is read: a later change has an event of its own
	cols, rows := s.Size()
	s.frame.fit(cols, rows, cut)
	text, width := cleanCluster(string(r))
	if width != 1 {
		text = " "
	}
	s.frame.blank = cell{text: s.frame.ink.text(text), style: s.frame.ink.style(style), width: 1}
	s.frame.clearing = true
}

// SetContent sets one cell. Runes that could command the terminal appear as a visible dot, and at most 8 combining
// runes are kept. Rune 0 keeps the right half of a wide text; any other rune there removes the wide text.
func (s *Screen) SetContent(x, y int, primary rune, combining []rune, style tcell.Style) {
	s.frame.settle()
	s.frame.setRunes(x, y, primary, combining, style)
}

// Blank sets n cells from x, y on to spaces in a style, much faster than cell by cell, and ignores cells off the
// screen.
func (s *Screen) Blank(x, y, n int, style tcell.Style) {
	s.frame.settle()
	f := &s.frame
	n = min(n, f.w-x)
	if y < 0 || y >= f.h || x < 0 || n <= 0 {
		return
	}
	if seeThrough(style) {
		for i := range n {
			f.set(x+i, y, ' ', 1, style)
		}
		return
	}
	f.part(x, y)
	row := f.back[y*f.w+x : y*f.w+x+n]
	blank := cell{text: ' ', style: f.ink.style(style), width: 1}
	for i := range row {
		row[i] = blank
	}
}

// Letters sets cells from x, y on to the characters of p, which must be printable ASCII, much faster than cell by cell.
// It ignores cells off the screen.
func (s *Screen) Letters(x, y int, p []byte, style tcell.Style) {
	s.frame.settle()
	f := &s.frame
	if n := f.w - x; len(p) > n {
		p = p[:max(n, 0)]
	}
	if y < 0 || y >= f.h || x < 0 || len(p) == 0 {
		return
	}
	if seeThrough(style) {
		for i, b := range p {
			f.setRunes(x+i, y, rune(b), nil, style)
		}
		return
	}
	f.part(x, y)
	row := f.back[y*f.w+x : y*f.w+x+len(p)]
	letter := cell{style: f.ink.style(style), width: 1}
	for i, b := range p {
		if letter.text = uint32(b); b < ' ' || b >= 0x7f {
			f.setRunes(x+i, y, rune(b), nil, style)
			continue
		}
		row[i] = letter
	}
}

// SetCell is [Screen.SetContent] with all runes of the cell in ch.
func (s *Screen) SetCell(x, y int, style tcell.Style, ch ...rune) {
	if len(ch) == 0 {
		ch = []rune{' '}
	}
	s.SetContent(x, y, ch[0], ch[1:], style)
}

// Put sets one cell to the first visible grapheme cluster of str. It returns the rest of str and the width.
func (s *Screen) Put(x, y int, str string, style tcell.Style) (string, int) {
	s.frame.settle()
	state := -1
	for str != "" {
		var g string
		g, str, _, state = uniseg.FirstGraphemeClusterInString(str, state)
		if text, width := cleanCluster(g); width > 0 {
			s.frame.set(x, y, s.frame.ink.text(text), width, style)
			return str, width
		}
	}
	return "", 0
}

// PutStr writes str from x, y on in the default style, clipped to the screen.
func (s *Screen) PutStr(x, y int, str string) { s.PutStrStyled(x, y, str, tcell.StyleDefault) }

// PutStrStyled writes str from x, y on, clipped to the screen.
func (s *Screen) PutStrStyled(x, y int, str string, style tcell.Style) {
	for str != "" && x < s.frame.w {
		var width int
		str, width = s.Put(x, y, str, style)
		x += width
	}
}

// Get returns the text, style and width at x, y in the frame being drawn.
func (s *Screen) Get(x, y int) (string, tcell.Style, int) {
	s.frame.settle()
	if c := s.frame.at(x, y); c != nil {
		return s.frame.ink.string(c.text), s.frame.ink.styles[c.style], int(c.width)
	}
	return "", tcell.StyleDefault, 0
}

// GetContent is [Screen.Get] with the text as runes.
func (s *Screen) GetContent(x, y int) (rune, []rune, tcell.Style, int) {
	text, style, width := s.Get(x, y)
	if len(text) == 1 {
		return rune(text[0]), nil, style, width
	}
	runes := []rune(text)
	if len(runes) == 0 {
		return 0, nil, style, width
	}
	return runes[0], runes[1:], style, width
}
