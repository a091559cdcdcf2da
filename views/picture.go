package views

import (
	"bytes"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/themes"
	"buddy/views/markup"
)

// picture is what tmux captured, as text. The rows are one stream: a row goes on with
// the colours and the character set that the row before ended with.
type picture struct {
	of   any // the event that it is of, a pointer
	text markup.Text
	ends []int // where each row ends; a newline follows
}

// read makes the picture that of an event.
func (p *picture) read(of any, rows []string) {
	if p.of == of {
		return
	}
	w := markup.Writer{Terminal: true, Drawing: true}
	p.of, p.ends = of, p.ends[:0]
	for _, row := range rows {
		w.Write([]byte(row))
		p.ends = append(p.ends, len(w.Text.Bytes))
		w.Write([]byte("\n"))
	}
	p.text = w.Text
}

// screen draws the rows of a pane around its cursor and returns which is at the top.
func (p *picture) screen(in area, s *event.PaneScreen) (top int) {
	p.read(s, s.Rows)
	top = max(0, min(s.Cursor.Y-in.h+1, len(s.Rows)-1))
	in = in.terminal()
	for i := range min(in.h, len(s.Rows)-top) {
		p.draw(in.down(i), top+i)
	}
	return top
}

// draw draws a row; › in the last column says that it goes on.
func (p *picture) draw(c canvas, row int) {
	from, to := 0, p.ends[row]
	if row > 0 {
		from = p.ends[row-1] + 1
	}
	if markup.Width(bytes.TrimRight(p.text.Bytes[from:to], " ")) > c.w {
		c.say(c.w-1, "›", themes.Muted)
		c.w--
	}
	c.text(&p.text, from, to)
}

// terminal gives text the colours that programs in a terminal take for granted, unless the
// theme has a background of its own.
func (a area) terminal() area {
	if _, bg, _ := a.palette[themes.Text].Decompose(); bg != tcell.ColorDefault {
		return a
	}
	colours := *a.palette
	colours[themes.Text] = tcell.StyleDefault
	a.palette = &colours
	return a
}
