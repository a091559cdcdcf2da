package draw

import (
	"bytes"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/themes"
	"buddy/views/markup"
)

// Picture is a tmux capture as text. Its rows are one stream: a row starts with the colours and the character set that
// the previous row ended with.
type Picture struct {
	of   any // a pointer to its event
	text markup.Text
	ends []int // ends of rows; a newline follows each
}

// Read converts the rows of the event of, unless the picture was last read from the same event.
func (p *Picture) Read(of any, rows []string) {
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

// Screen draws the rows of a pane from row first on, or from a later row so that the cursor is visible. It returns the
// top row.
func (p *Picture) Screen(in Area, s *event.PaneScreen, first int) (top int) {
	p.Read(s, s.Rows)
	top = max(first, min(s.Cursor.Y-in.H+1, len(s.Rows)-1))
	in = in.Terminal()
	for i := range min(in.H, len(s.Rows)-top) {
		p.Draw(in.Down(i), top+i)
	}
	return top
}

// Draw draws a row; › in the last column marks a cut row.
func (p *Picture) Draw(c Canvas, row int) {
	from, to := 0, p.ends[row]
	if row > 0 {
		from = p.ends[row-1] + 1
	}
	if markup.Width(bytes.TrimRight(p.text.Bytes[from:to], " ")) > c.W {
		c.Say(c.W-1, "›", themes.Muted)
		c.W--
	}
	c.Text(&p.text, from, to)
}

// Terminal returns the area in the terminal's default colours, unless the theme sets its own background.
func (a Area) Terminal() Area {
	if _, bg, _ := a.Palette[themes.Text].Decompose(); bg != tcell.ColorDefault {
		return a
	}
	colours := *a.Palette
	colours[themes.Text] = tcell.StyleDefault
	a.Palette = &colours
	return a
}
