package screen

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// grid holds the frame being drawn and the one that the terminal shows. It belongs
// to the UI goroutine.
type grid struct {
	w, h        int
	back, front []cell // being drawn, shown
	ink         ink    // of both

	// A clear is only remembered until something is drawn: tview clears before it
	// asks whether to draw at all, and a skipped draw must not lose the last frame.
	clearing bool
	blank    cell
}

func (g *grid) resize(w, h int) {
	g.w, g.h = w, h
	g.back, g.front = make([]cell, w*h), make([]cell, w*h)
	g.ink = newInk()
	g.blank = cell{text: ' ', width: 1}
	g.fill(g.blank)
}

// shown is called when the terminal shows what was drawn.
func (g *grid) shown() {
	old := g.ink
	if old.size() < manyInks+len(g.back) {
		return
	}
	g.ink = newInk()
	move := func(c *cell) {
		c.text, c.style = g.ink.text(old.string(c.text)), g.ink.style(old.styles[c.style])
	}
	for i := range g.back {
		move(&g.back[i])
	}
	move(&g.blank)
	copy(g.front, g.back)
}

// forget makes the next frame forward every cell.
func (g *grid) forget() { clear(g.front) }

func (g *grid) fill(c cell) {
	for i := range g.back {
		g.back[i] = c
	}
}

// settle does a clear that was only remembered.
func (g *grid) settle() {
	if g.clearing {
		g.clearing = false
		g.fill(g.blank)
	}
}

func (g *grid) at(x, y int) *cell {
	if x < 0 || y < 0 || x >= g.w || y >= g.h {
		return nil
	}
	return &g.back[y*g.w+x]
}

// set stores a clean text. A text that covers half of a wide one removes the rest of it.
func (g *grid) set(x, y int, text uint32, width int, style tcell.Style) {
	c := g.at(x, y)
	if c == nil {
		return
	}
	g.part(x, y)
	*c = cell{text, g.ink.style(g.over(c, style)), uint8(width)}
}

// part removes the wide text of which x, y is the right half.
func (g *grid) part(x, y int) {
	if x == 0 {
		return
	}
	if left := &g.back[y*g.w+x-1]; left.width == 2 {
		left.text, left.width = ' ', 1
	}
}

// over returns a style with the colours of a cell where it has none of its own.
func (g *grid) over(c *cell, style tcell.Style) tcell.Style {
	if fg, bg, _ := style.Decompose(); fg == tcell.ColorNone || bg == tcell.ColorNone {
		oldFg, oldBg, _ := g.ink.styles[c.style].Decompose()
		if fg == tcell.ColorNone {
			style = style.Foreground(oldFg)
		}
		if bg == tcell.ColorNone {
			style = style.Background(oldBg)
		}
	}
	return style
}

// seeThrough says that a style leaves a colour as it is.
func seeThrough(style tcell.Style) bool {
	fg, bg, _ := style.Decompose()
	return fg == tcell.ColorNone || bg == tcell.ColorNone
}

// setRunes is set for a text that is not known to be clean.
func (g *grid) setRunes(x, y int, primary rune, combining []rune, style tcell.Style) {
	if primary == 0 && len(combining) == 0 {
		if c := g.at(x-1, y); c != nil && c.width == 2 {
			return // the right half of a wide text
		}
		primary = ' '
	}
	if primary >= ' ' && primary < 0x7f && len(combining) == 0 {
		g.set(x, y, uint32(primary), 1, style)
		return
	}
	if c := g.at(x, y); c != nil {
		// Most cells show what they showed before: no need to look at them again.
		if old := &g.front[y*g.w+x]; old.width > 0 && g.ink.is(old.text, primary, combining) {
			g.set(x, y, old.text, int(old.width), style)
			return
		}
		text, width := g.ink.rune(primary)
		if len(combining) > 0 {
			text, width = cleanCluster(string(append([]rune{primary}, combining...)))
		}
		g.set(x, y, g.ink.text(text), max(width, 1), style)
	}
}

// Clear blanks the frame that is drawn next. It costs nothing until then.
func (s *Screen) Clear() { s.Fill(' ', tcell.StyleDefault) }

// Fill sets every cell of the frame that is drawn next to r, and makes that frame as
// large as the terminal is now.
func (s *Screen) Fill(r rune, style tcell.Style) {
	s.fit()
	text, width := cleanCluster(string(r))
	if width != 1 {
		text = " "
	}
	s.grid.blank = cell{text: s.grid.ink.text(text), style: s.grid.ink.style(style), width: 1}
	s.grid.clearing = true
}

// SetContent sets one cell. Runes that could command the terminal appear as a visible
// dot, and at most 8 combining runes are kept. A rune 0 leaves the right half of a wide
// text alone; anything else there removes the wide text.
func (s *Screen) SetContent(x, y int, primary rune, combining []rune, style tcell.Style) {
	s.grid.settle()
	s.grid.setRunes(x, y, primary, combining, style)
}

// Blank sets n cells from x, y on to blanks in a style, much faster than one by one. What
// is not on the screen is left out.
func (s *Screen) Blank(x, y, n int, style tcell.Style) {
	s.grid.settle()
	g := &s.grid
	n = min(n, g.w-x)
	if y < 0 || y >= g.h || x < 0 || n <= 0 {
		return
	}
	if seeThrough(style) {
		for i := range n {
			g.set(x+i, y, ' ', 1, style)
		}
		return
	}
	g.part(x, y)
	row := g.back[y*g.w+x : y*g.w+x+n]
	blank := cell{text: ' ', style: g.ink.style(style), width: 1}
	for i := range row {
		row[i] = blank
	}
}

// Letters sets cells from x, y on to the characters of p, all of which must be printable
// ASCII, much faster than one by one. What is not on the screen is left out.
func (s *Screen) Letters(x, y int, p []byte, style tcell.Style) {
	s.grid.settle()
	g := &s.grid
	if n := g.w - x; len(p) > n {
		p = p[:max(n, 0)]
	}
	if y < 0 || y >= g.h || x < 0 || len(p) == 0 {
		return
	}
	if seeThrough(style) {
		for i, b := range p {
			g.setRunes(x+i, y, rune(b), nil, style)
		}
		return
	}
	g.part(x, y)
	row := g.back[y*g.w+x : y*g.w+x+len(p)]
	letter := cell{style: g.ink.style(style), width: 1}
	for i, b := range p {
		if letter.text = uint32(b); b < ' ' || b >= 0x7f {
			g.setRunes(x+i, y, rune(b), nil, style)
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

// Put sets one cell to the first visible grapheme cluster of str. It returns the
// rest of str and the width shown.
func (s *Screen) Put(x, y int, str string, style tcell.Style) (string, int) {
	s.grid.settle()
	state := -1
	for str != "" {
		var g string
		g, str, _, state = uniseg.FirstGraphemeClusterInString(str, state)
		if text, width := cleanCluster(g); width > 0 {
			s.grid.set(x, y, s.grid.ink.text(text), width, style)
			return str, width
		}
	}
	return "", 0
}

// PutStr writes str from x, y on in the default style, clipped to the screen.
func (s *Screen) PutStr(x, y int, str string) { s.PutStrStyled(x, y, str, tcell.StyleDefault) }

// PutStrStyled writes str from x, y on, clipped to the screen.
func (s *Screen) PutStrStyled(x, y int, str string, style tcell.Style) {
	for str != "" && x < s.grid.w {
		var width int
		str, width = s.Put(x, y, str, style)
		x += width
	}
}

// Get returns what the frame being drawn has at x, y: its text, style and width.
func (s *Screen) Get(x, y int) (string, tcell.Style, int) {
	s.grid.settle()
	if c := s.grid.at(x, y); c != nil {
		return s.grid.ink.string(c.text), s.grid.ink.styles[c.style], int(c.width)
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
