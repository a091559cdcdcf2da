package views

import (
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"buddy/themes"
	"buddy/views/markup"
)

// palette is a theme made ready for cells.
type palette [themes.RoleCount]tcell.Style

func newPalette(theme *themes.Theme) *palette {
	var p palette
	for _, r := range themes.Roles {
		p[r] = cellStyle(theme.Style(r))
	}
	return &p
}

// cell returns how a run looks.
func (p *palette) cell(st markup.Style, links []string) tcell.Style {
	out := p[st.Role]
	if st == (markup.Style{Role: st.Role}) {
		return out
	}
	out = out.Foreground(cellColor(st.FG, foreground(out))).Background(cellColor(st.BG, background(out)))
	_, _, attrs := out.Decompose()
	for _, a := range []struct {
		have markup.Attr
		want tcell.AttrMask
	}{{markup.Bold, tcell.AttrBold}, {markup.Dim, tcell.AttrDim}, {markup.Italic, tcell.AttrItalic}, {markup.Reverse, tcell.AttrReverse}, {markup.Strike, tcell.AttrStrikeThrough}} {
		if st.Attr&a.have != 0 {
			attrs |= a.want
		}
	}
	out = out.Attributes(attrs)
	if st.Attr&markup.Underline != 0 {
		out = out.Underline(true)
	}
	if st.Link > 0 && int(st.Link) <= len(links) {
		out = out.Url(links[st.Link-1])
	}
	return out
}

func foreground(st tcell.Style) tcell.Color { c, _, _ := st.Decompose(); return c }

func background(st tcell.Style) tcell.Color { _, c, _ := st.Decompose(); return c }

func cellColor(c markup.Color, otherwise tcell.Color) tcell.Color {
	if n, ok := c.Palette(); ok {
		return tcell.PaletteColor(n)
	}
	if rgb, ok := c.RGB(); ok {
		return tcell.NewHexColor(rgb)
	}
	return otherwise
}

// canvas is where on a screen a row is drawn: from x on, w cells of it.
type canvas struct {
	screen  tcell.Screen
	palette *palette
	spots   *[]keySpot // takes where keys are drawn
	x, y, w int
}

// text draws bytes of a Text and returns how many cells it took.
func (c canvas) text(t *markup.Text, from, to int) int {
	col := 0
	for i := t.RunAt(from); from < to && col < c.w; i++ {
		end := min(to, int(t.Runs[i].End))
		col = c.run(t.Bytes[from:end], col, c.palette.cell(t.Runs[i].Style, t.Links))
		from = end
	}
	return col
}

// run draws safe text in one style from a column on and returns the column after it.
func (c canvas) run(p []byte, col int, st tcell.Style) int {
	for len(p) > 0 && col < c.w {
		if n := min(letters(p), c.w-col); n > 0 {
			c.letters(p[:n], col, st)
			col, p = col+n, p[n:]
			continue
		}
		n, width := markup.Cell(p, col)
		switch {
		case width == 0:
		case p[0] == '\t' || col+width > c.w:
			c.fill(col, min(col+width, c.w), st)
		default:
			c.cluster(p[:n], col, width, st)
		}
		col += width
		p = p[n:]
	}
	return min(col, c.w)
}

// letters counts the characters at the beginning that are of one byte and one cell each. The
// last one before others may be part of what follows.
func letters(p []byte) int {
	n := 0
	for n < len(p) && p[n] >= ' ' && p[n] < 0x7f {
		n++
	}
	if n > 0 && n < len(p) && p[n] >= 0x80 {
		n--
	}
	return n
}

// letters draws printable ASCII.
func (c canvas) letters(p []byte, col int, st tcell.Style) {
	if s, ok := c.screen.(quick); ok {
		s.Letters(c.x+col, c.y, p, st)
		return
	}
	for i, b := range p {
		c.screen.SetContent(c.x+col+i, c.y, rune(b), nil, st)
	}
}

// cluster draws a character that is not printable ASCII.
func (c canvas) cluster(p []byte, col, width int, st tcell.Style) {
	r, n := utf8.DecodeRune(p)
	var combining []rune
	if n < len(p) {
		combining = []rune(string(p[n:]))
		combining = combining[:min(len(combining), maxCombined)]
	}
	for i := width - 1; i > 0; i-- {
		c.screen.SetContent(c.x+col+i, c.y, ' ', nil, st)
	}
	c.screen.SetContent(c.x+col, c.y, r, combining, st)
}

// maxCombined is how many runes a cell may hold beside the first.
const maxCombined = 12

// say draws text of our own, or text that markup made safe.
func (c canvas) say(col int, text string, r themes.Role) int {
	return c.run([]byte(text), col, c.palette[r])
}

// put draws one character of our own.
func (c canvas) put(col int, char rune, r themes.Role) {
	c.screen.SetContent(c.x+col, c.y, char, nil, c.palette[r])
}

// quick is a screen that draws blanks and letters faster than one by one. All but those of
// tests are.
type quick interface {
	Blank(x, y, n int, st tcell.Style)
	Letters(x, y int, p []byte, st tcell.Style)
}

// fill draws blanks.
func (c canvas) fill(from, to int, st tcell.Style) {
	if s, ok := c.screen.(quick); ok {
		if to > from {
			s.Blank(c.x+from, c.y, to-from, st)
		}
		return
	}
	for ; from < to; from++ {
		c.screen.SetContent(c.x+from, c.y, ' ', nil, st)
	}
}

// at returns the part of a canvas from a column on.
func (c canvas) at(col int) canvas { return c.cols(col, c.w) }

// cols returns some columns of a canvas.
func (c canvas) cols(from, to int) canvas {
	c.x, c.w = c.x+from, max(to-from, 0)
	return c
}

// down returns the canvas n rows further down.
func (c canvas) down(n int) canvas {
	c.y += n
	return c
}

// area is h rows, of which the canvas is the first.
type area struct {
	canvas
	h int
}

// cleared draws blanks everywhere.
func (a area) cleared() area {
	for y := range a.h {
		a.down(y).fill(0, a.w, a.palette[themes.Text])
	}
	return a
}

// inset leaves out a column at each side.
func (a area) inset() area {
	a.canvas = a.cols(min(padding, a.w), a.w-padding)
	return a
}

// below returns what follows n rows.
func (a area) below(n int) area { return area{a.down(n), max(a.h-n, 0)} }

// padding is how many columns stay free at the left and at the right of text in a
// border. In the conversation the mark of the focused block stands there.
const padding = 1

// restyle gives the cells of the bytes a..b another style, when those from the byte from
// on were drawn from the canvas's beginning on.
func (c canvas) restyle(text []byte, from, a, b int, st tcell.Style) {
	if a >= b {
		return
	}
	col, end := markup.Width(text[from:a]), markup.Width(text[from:b])
	for col < min(end, c.w) {
		char, _, width := c.screen.Get(c.x+col, c.y)
		c.screen.Put(c.x+col, c.y, char, st)
		col += max(width, 1)
	}
}

// cellStyle turns a theme's style into one for cells.
func cellStyle(s themes.Style) tcell.Style {
	st := tcell.StyleDefault
	if s.FG.Set {
		st = st.Foreground(tcell.NewHexColor(int32(s.FG.RGB)))
	}
	if s.BG.Set {
		st = st.Background(tcell.NewHexColor(int32(s.BG.RGB)))
	}
	return st.Bold(s.Bold).Dim(s.Dim).Italic(s.Italic).Underline(s.Underline).Reverse(s.Reversed)
}
