package views

import "buddy/themes"

// drawEditorRow draws one row of an editor's text, the first accent bytes emphasised.
func drawEditorRow(c canvas, e *Editor, r row, accent int) {
	l := e.wrapped(r.line, r.n+2)
	i, end := l.rows[r.n], len(l.text)
	if r.n+1 < len(l.rows) {
		end = l.rows[r.n+1]
	}
	for col := 0; i < end && col < c.w; {
		g := e.glyph(l.text, i, col)
		role := themes.Text
		switch {
		case g.hostile:
			role = themes.Control
		case g.chip || i < accent:
			role = themes.Accent
		}
		c.say(col, g.text, role)
		i, col = g.end, col+g.width
	}
}

// textRoom is the width of a row: one cell is left for the cursor behind its end.
func textRoom(width int, prefix []span) int { return max(1, width-spansWidth(prefix)-1) }

// drawSelection shows which part of a row is selected; a line end has a cell, too.
func (v *vi) drawSelection(c canvas, e *Editor, r row) {
	from, to := v.selection(e)
	if from == to {
		return
	}
	l := e.wrapped(r.line, r.n+2)
	i, end := l.rows[r.n], len(l.text)
	last := r.n+1 >= len(l.rows)
	if !last {
		end = l.rows[r.n+1]
	}
	selected := func(i int) bool { p := place{r.line, i}; return !p.less(from) && p.less(to) }
	col := 0
	for i < end && col < c.w {
		g := e.glyph(l.text, i, col)
		if selected(i) {
			c.say(col, g.text, themes.Selection)
		}
		i, col = g.end, col+g.width
	}
	if last && selected(len(l.text)) && col < c.w {
		c.fill(col, col+1, c.palette[themes.Selection])
	}
}

// drawEditor draws the rows of an editor around the cursor and returns how many there are.
// With the focus the screen's cursor is put there.
func drawEditor(in area, e *Editor, focus bool) int {
	at, col := e.cursorRow()
	r := e.rowsBack(at, in.h-1)
	for y := 0; ; y++ {
		line := in.down(y)
		drawEditorRow(line, e, r, 0)
		if r == at && focus {
			line.screen.ShowCursor(line.x+col, line.y)
		}
		next := e.rowsOn(r, 1)
		if next == r || y+1 >= in.h {
			return y + 1
		}
		r = next
	}
}
