package views

import (
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

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
		n, width := markup.Cell(p, col)
		switch {
		case width == 0:
		case n == 1 && p[0] != '\t':
			c.screen.SetContent(c.x+col, c.y, rune(p[0]), nil, st)
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

// cluster draws a character of more than one byte.
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

// say draws text of our own, or text that markup.Inline made safe.
func (c canvas) say(col int, text string, r themes.Role) int {
	return c.run([]byte(text), col, c.palette[r])
}

// fill draws blanks.
func (c canvas) fill(from, to int, st tcell.Style) {
	for ; from < to; from++ {
		c.screen.SetContent(c.x+from, c.y, ' ', nil, st)
	}
}

// at returns the part of a canvas from a column on.
func (c canvas) at(col int) canvas {
	c.x, c.w = c.x+col, max(c.w-col, 0)
	return c
}

// down returns the canvas n rows further down.
func (c canvas) down(n int) canvas {
	c.y += n
	return c
}

// titles are what a frame says on its border.
type titles struct{ left, right, bottom string }

// paintFrame draws a box's border, if it has one, and returns what is inside, which it
// does not draw.
func paintFrame(box *tview.Box, screen tcell.Screen, p *palette, focus bool, t titles) canvasRect {
	x, y, w, h := box.GetRect()
	ix, iy, iw, ih := box.GetInnerRect()
	inner := canvasRect{canvas{screen, p, ix, iy, max(iw, 0)}, max(ih, 0), iy > y && w > 1 && h > 1}
	if !inner.framed {
		return inner
	}
	role := themes.Border
	if focus {
		role = themes.Focus
	}
	for row := range h {
		c := canvas{screen, p, x, y + row, w}
		switch row {
		case 0:
			paintEdge(c, '┌', '┐', role, t.left, t.right)
		case h - 1:
			paintEdge(c, '└', '┘', role, "", t.bottom)
		default:
			screen.SetContent(x, y+row, '│', nil, p[role])
			screen.SetContent(x+w-1, y+row, '│', nil, p[role])
		}
	}
	return inner
}

// canvasRect is h rows, of which the canvas is the first.
type canvasRect struct {
	canvas
	h      int
	framed bool // it lies in a border
}

// paintEdge draws the upper or lower border with its titles; the right one is left out
// where there is no room for both.
func paintEdge(c canvas, first, last rune, role themes.Role, left, right string) {
	st := c.palette[role]
	for i := range c.w {
		c.screen.SetContent(c.x+i, c.y, '─', nil, st)
	}
	c.screen.SetContent(c.x, c.y, first, nil, st)
	c.screen.SetContent(c.x+c.w-1, c.y, last, nil, st)
	room := c.w - 4
	if n := markup.Width([]byte(right)); right != "" && n+2 <= room {
		c.at(c.w-4-n).say(0, " "+right+" ", themes.Muted)
		room -= n + 3
	}
	if left != "" && room > 2 {
		inner := c.at(2)
		inner.w = room
		inner.say(0, " "+fitText(left, room-2)+" ", themes.Strong)
	}
}

// fitText shortens one line of safe text to w columns; … says that something is missing.
func fitText(text string, w int) string {
	p := []byte(text)
	if markup.Width(p) <= w {
		return text
	}
	end, col := 0, 0
	for end < len(p) {
		n, width := markup.Cell(p[end:], col)
		if col+width > w-1 {
			break
		}
		end, col = end+n, col+width
	}
	if w < 1 {
		return ""
	}
	return text[:end] + "…"
}
