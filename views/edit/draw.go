package edit

import (
	"buddy/themes"
	"buddy/views/draw"
)

// DrawRow draws a row of an editor's text in a role. accent is the number of bytes at its start that are emphasised.
func DrawRow(c draw.Canvas, e *Editor, r Row, text themes.Role, accent int) {
	l := e.buf.wrapped(r.line, r.n+2)
	i, end := l.rows[r.n], len(l.text)
	if r.n+1 < len(l.rows) {
		end = l.rows[r.n+1]
	}
	for col := 0; i < end && col < c.W; {
		g := e.buf.chips.glyph(l.text, i, col)
		role := text
		switch {
		case g.hostile:
			role = themes.Control
		case g.chip || i < accent:
			role = themes.Accent
		}
		c.Say(col, g.text, role)
		i, col = g.end, col+g.width
	}
}

// Room returns the cells of a row, which leave one cell for the cursor at its end.
func Room(width int, prefix []draw.Span) int { return max(1, width-draw.Width(prefix)-1) }

// DrawSelection highlights the selected part of a row; a line end has a cell, too.
func (v *Vi) DrawSelection(c draw.Canvas, e *Editor, r Row) {
	from, to := v.sel.bounds(e)
	if from == to {
		return
	}
	l := e.buf.wrapped(r.line, r.n+2)
	i, end := l.rows[r.n], len(l.text)
	last := r.n+1 >= len(l.rows)
	if !last {
		end = l.rows[r.n+1]
	}
	selected := func(i int) bool { p := Place{r.line, i}; return !p.less(from) && p.less(to) }
	col := 0
	for i < end && col < c.W {
		g := e.buf.chips.glyph(l.text, i, col)
		if selected(i) {
			c.Say(col, g.text, themes.Selection)
		}
		i, col = g.end, col+g.width
	}
	if last && selected(len(l.text)) && col < c.W {
		c.Fill(col, col+1, c.Palette[themes.Selection])
	}
}

// Draw draws the rows around the cursor and returns their number. With the focus it sets the screen's cursor.
func Draw(in draw.Area, e *Editor, focus bool) int {
	at, col := e.CursorRow()
	r := e.buf.rowsBack(at, in.H-1)
	for y := 0; ; y++ {
		line := in.Down(y)
		DrawRow(line, e, r, themes.Text, 0)
		if r == at && focus {
			line.Screen.ShowCursor(line.X+col, line.Y)
		}
		next := e.buf.rowsOn(r, 1)
		if next == r || y+1 >= in.H {
			return y + 1
		}
		r = next
	}
}
