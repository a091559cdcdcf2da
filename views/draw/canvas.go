// Package draw draws styled text on the cells of a screen.
//
// A view embeds a [Frame], which holds its rectangle, colours, key map and borders, and draws on an [Area]. Text is
// marked as trusted ([Text]) or made safe first ([Untrusted]). Only the UI goroutine may use the package.
//
//	in := v.Bordered(screen, draw.Titles{Left: []draw.Span{draw.Text(themes.Strong, "Tasks")}}).Cleared()
//	in.Spans(0, draw.Untrusted(themes.Text, name)...)
package draw

import (
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"buddy/themes"
	"buddy/views/markup"
)

// Palette holds the cell styles of a theme by role.
type Palette [themes.RoleCount]tcell.Style

func newPalette(theme *themes.Theme) *Palette {
	var p Palette
	for _, r := range themes.Roles {
		p[r] = CellStyle(theme.Style(r))
	}
	return &p
}

// On returns the palette for text on the background of a role, or p if the role has no background of its own.
func (p *Palette) On(r themes.Role) *Palette {
	own, back := background(p[themes.Text]), background(p[r])
	if back == own {
		return p
	}
	on := *p
	for i, st := range on {
		if _, _, attrs := st.Decompose(); background(st) == own && attrs&tcell.AttrReverse == 0 {
			if on[i] = st.Background(back); foreground(st) == tcell.ColorDefault {
				on[i] = on[i].Foreground(foreground(p[r]))
			}
		}
	}
	return &on
}

// cell returns the cell style of a run.
func (p *Palette) cell(st markup.Style, links []string) tcell.Style {
	out := p[st.Role]
	if st == (markup.Style{Role: st.Role}) {
		return out
	}
	_, _, attrs := out.Decompose()
	under := st.Attr&markup.Underline != 0
	if r, ok := st.BG.Role(); ok {
		text, back, more := p[r].Decompose()
		attrs, under = attrs|more, under || more&tcell.AttrUnderline != 0
		if out = out.Background(back); foreground(out) == foreground(p[themes.Text]) {
			out = out.Foreground(text)
		}
	}
	out = out.Foreground(cellColor(st.FG, foreground(out))).Background(cellColor(st.BG, background(out)))
	for _, a := range []struct {
		have markup.Attr
		want tcell.AttrMask
	}{{markup.Bold, tcell.AttrBold}, {markup.Dim, tcell.AttrDim}, {markup.Italic, tcell.AttrItalic}, {markup.Reverse, tcell.AttrReverse}, {markup.Strike, tcell.AttrStrikeThrough}} {
		if st.Attr&a.have != 0 {
			attrs |= a.want
		}
	}
	out = out.Attributes(attrs)
	if under {
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

// Canvas draws on a row of a screen: W cells from X on.
type Canvas struct {
	Screen    tcell.Screen
	Palette   *Palette
	clickable *[]clickableKey // records where keys are drawn
	X, Y, W   int
}

// Text draws bytes of a Text and returns the number of cells.
func (c Canvas) Text(t *markup.Text, from, to int) int {
	col := 0
	for i := t.RunAt(from); from < to && col < c.W; i++ {
		end := min(to, int(t.Runs[i].End))
		col = c.Run(t.Bytes[from:end], col, c.Palette.cell(t.Runs[i].Style, t.Links))
		from = end
	}
	return col
}

// Row draws row i of a wrapped text: its prefix, the text, and spaces to the end of the canvas.
func (c Canvas) Row(t *markup.Text, l *markup.Layout, i int) {
	prefix, col, band := l.Rest(t, i)
	fill, side := c.Palette[band], markup.Style{Role: themes.Muted}
	if band != themes.Text {
		side = markup.Style{Role: signs[band], BG: markup.Background(band)}
	}
	c.Run([]byte(prefix), 0, c.Palette.cell(side, nil))
	row := l.Rows[i]
	col += c.At(col).Text(t, int(row.From), int(row.To))
	c.Fill(col, c.W, fill)
}

// signs maps the bands of changed lines in diffs to the roles of their prefixes.
var signs = map[themes.Role]themes.Role{themes.DiffAddBand: themes.DiffAdd, themes.DiffDeleteBand: themes.DiffDelete}

// Run draws safe text in one style from a column on and returns the column after it.
func (c Canvas) Run(p []byte, col int, st tcell.Style) int {
	for len(p) > 0 && col < c.W {
		if n := min(letters(p), c.W-col); n > 0 {
			c.letters(p[:n], col, st)
			col, p = col+n, p[n:]
			continue
		}
		n, width := markup.Cell(p, col)
		switch {
		case width == 0:
		case p[0] == '\t' || col+width > c.W:
			c.Fill(col, min(col+width, c.W), st)
		default:
			c.cluster(p[:n], col, width, st)
		}
		col += width
		p = p[n:]
	}
	return min(col, c.W)
}

// letters counts the characters at the start of p that have one byte and one cell. It omits the last one if other
// characters follow, because these may combine with it.
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
func (c Canvas) letters(p []byte, col int, st tcell.Style) {
	if s, ok := c.Screen.(quick); ok {
		s.Letters(c.X+col, c.Y, p, st)
		return
	}
	for i, b := range p {
		c.Screen.SetContent(c.X+col+i, c.Y, rune(b), nil, st)
	}
}

// cluster draws a character other than printable ASCII.
func (c Canvas) cluster(p []byte, col, width int, st tcell.Style) {
	r, n := utf8.DecodeRune(p)
	var combining []rune
	if n < len(p) {
		combining = []rune(string(p[n:]))
		combining = combining[:min(len(combining), maxCombined)]
	}
	for i := width - 1; i > 0; i-- {
		c.Screen.SetContent(c.X+col+i, c.Y, ' ', nil, st)
	}
	c.Screen.SetContent(c.X+col, c.Y, r, combining, st)
}

// maxCombined limits the runes of a cell after the first.
const maxCombined = 12

// Say draws trusted text, or text made safe by markup.
func (c Canvas) Say(col int, text string, r themes.Role) int {
	return c.Run([]byte(text), col, c.Palette[r])
}

// Put draws one trusted character.
func (c Canvas) Put(col int, char rune, r themes.Role) {
	c.Screen.SetContent(c.X+col, c.Y, char, nil, c.Palette[r])
}

// quick is a screen that draws spaces and letters faster than cell by cell. Screens of tests do not implement it.
type quick interface {
	Blank(x, y, n int, st tcell.Style)
	Letters(x, y int, p []byte, st tcell.Style)
}

// Fill draws spaces.
func (c Canvas) Fill(from, to int, st tcell.Style) {
	if s, ok := c.Screen.(quick); ok {
		if to > from {
			s.Blank(c.X+from, c.Y, to-from, st)
		}
		return
	}
	for ; from < to; from++ {
		c.Screen.SetContent(c.X+from, c.Y, ' ', nil, st)
	}
}

// At returns the part of a canvas from a column on.
func (c Canvas) At(col int) Canvas { return c.Cols(col, c.W) }

// Cols returns the columns from..to of a canvas.
func (c Canvas) Cols(from, to int) Canvas {
	c.X, c.W = c.X+from, max(to-from, 0)
	return c
}

// Down returns the canvas n rows below.
func (c Canvas) Down(n int) Canvas {
	c.Y += n
	return c
}

// Area is a rectangle of H rows; Canvas is the first row.
type Area struct {
	Canvas
	H int
}

// Cleared fills the area with spaces.
func (a Area) Cleared() Area {
	for y := range a.H {
		a.Down(y).Fill(0, a.W, a.Palette[themes.Text])
	}
	return a
}

// Inset returns the area without a column at each side.
func (a Area) Inset() Area {
	a.Canvas = a.Cols(min(Padding, a.W), a.W-Padding)
	return a
}

// Below returns the area after n rows.
func (a Area) Below(n int) Area { return Area{a.Down(n), max(a.H-n, 0)} }

// Padding is the number of free columns on each side of text in a border. The conversation draws the mark of the
// focused block in it.
const Padding = 1

// Restyle changes the style of the bytes a..b of a drawn text; from is the byte at the start of the canvas.
func (c Canvas) Restyle(text []byte, from, a, b int, st tcell.Style) {
	if a >= b {
		return
	}
	col, end := markup.Width(text[from:a]), markup.Width(text[from:b])
	for col < min(end, c.W) {
		char, _, width := c.Screen.Get(c.X+col, c.Y)
		c.Screen.Put(c.X+col, c.Y, char, st)
		col += max(width, 1)
	}
}

// CellStyle converts a theme's style to a cell style.
func CellStyle(s themes.Style) tcell.Style {
	st := tcell.StyleDefault
	if s.FG.Set {
		st = st.Foreground(tcell.NewHexColor(int32(s.FG.RGB)))
	}
	if s.BG.Set {
		st = st.Background(tcell.NewHexColor(int32(s.BG.RGB)))
	}
	return st.Bold(s.Bold).Dim(s.Dim).Italic(s.Italic).Underline(s.Underline).Reverse(s.Reversed)
}
