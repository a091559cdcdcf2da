package screen

import (
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// cell is one place of the screen. A wide text covers the cell to its right as well.
type cell struct {
	text  string
	style tcell.Style
	width uint8
}

// ascii spares an allocation for each plain letter.
var ascii = func() (t [utf8.RuneSelf]string) {
	for i := range t {
		t[i] = string(rune(i))
	}
	return t
}()

// grid holds the frame being drawn and the one that the terminal shows. It belongs
// to the UI goroutine.
type grid struct {
	w, h        int
	back, front []cell // being drawn, shown; text "" in front means not known

	// A clear is only remembered until something is drawn: tview clears before it
	// asks whether to draw at all, and a skipped draw must not lose the last frame.
	clearing bool
	blank    cell
}

func (g *grid) resize(w, h int) {
	g.w, g.h = w, h
	g.back, g.front = make([]cell, w*h), make([]cell, w*h)
	g.fill(cell{text: " ", width: 1})
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
func (g *grid) set(x, y int, text string, width int, style tcell.Style) {
	c := g.at(x, y)
	if c == nil {
		return
	}
	if x > 0 && g.back[y*g.w+x-1].width == 2 {
		left := &g.back[y*g.w+x-1]
		left.text, left.width = " ", 1
	}
	if fg, bg, _ := style.Decompose(); fg == tcell.ColorNone || bg == tcell.ColorNone {
		oldFg, oldBg, _ := c.style.Decompose()
		if fg == tcell.ColorNone {
			style = style.Foreground(oldFg)
		}
		if bg == tcell.ColorNone {
			style = style.Background(oldBg)
		}
	}
	c.text, c.width, c.style = text, uint8(width), style
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
		g.set(x, y, ascii[primary], 1, style)
		return
	}
	if c := g.at(x, y); c != nil {
		// Most cells show what they showed before: no need to look at them again.
		if old := &g.front[y*g.w+x]; old.width > 0 && sameText(old.text, primary, combining) {
			g.set(x, y, old.text, int(old.width), style)
			return
		}
		text, width := cleanCluster(string(append([]rune{primary}, combining...)))
		g.set(x, y, text, max(width, 1), style)
	}
}

func sameText(s string, primary rune, combining []rune) bool {
	r, n := utf8.DecodeRuneInString(s)
	if r != primary || r == utf8.RuneError {
		return false
	}
	for _, c := range combining {
		s = s[n:]
		if r, n = utf8.DecodeRuneInString(s); r != c || r == utf8.RuneError {
			return false
		}
	}
	return len(s) == n
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
	s.grid.blank = cell{text: text, style: style, width: 1}
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
	if fg, bg, _ := style.Decompose(); fg == tcell.ColorNone || bg == tcell.ColorNone {
		for i := range n {
			g.set(x+i, y, " ", 1, style)
		}
		return
	}
	g.set(x, y, " ", 1, style) // looks at the cell before
	row := g.back[y*g.w+x : y*g.w+x+n]
	blank := cell{text: " ", style: style, width: 1}
	for i := range row {
		row[i] = blank
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
			s.grid.set(x, y, text, width, style)
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
		return c.text, c.style, int(c.width)
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
