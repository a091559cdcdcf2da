package prompt

import (
	"github.com/gdamore/tcell/v2"

	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

// shown returns the editor to draw: the editor of the text or, during a search, one with the match.
func (p *Prompt) shown() *edit.Editor {
	if p.search != nil {
		return p.search.found
	}
	return p.editor
}

// prefix returns the spans before the first row, at most a third of the width.
func (p *Prompt) prefix(width int) []draw.Span {
	mark := draw.Text(themes.Accent, "> ")
	if shell(p) && p.search == nil {
		mark = draw.Text(themes.Shell, "> ")
	}
	if p.To != "" {
		return append(draw.Clip(draw.Untrusted(themes.Strong, p.To), width/3), mark)
	}
	if p.target == "" {
		return []draw.Span{mark}
	}
	where := draw.Clip(draw.Untrusted(themes.Muted, draw.BeforePrompt(p.target)), width/3)
	return append(where, mark)
}

// Height returns the rows of the prompt at a width, from 1 to most.
func (p *Prompt) Height(width, most int) int {
	e := p.shown()
	width -= 2 * margin(width)
	e.SetWidth(edit.Room(width, p.prefix(width)))
	rows := e.Rows(most)
	if p.search != nil {
		rows++
	}
	return max(1, min(rows, most))
}

// margin returns the number of blank cells on each side of the prompt.
func margin(width int) int {
	if width > 20 {
		return draw.Padding
	}
	return 0
}

// inner clears the prompt and returns the area for text.
func inner(p *Prompt, screen tcell.Screen) draw.Area {
	in := p.Whole(screen)
	if !p.Ruled(screen) {
		in.Palette = p.band
	}
	in = in.Cleared()
	in.Canvas = in.Cols(margin(in.W), in.W-margin(in.W))
	return in
}

// Draw draws the rows around the cursor.
func (p *Prompt) Draw(screen tcell.Screen) {
	in := inner(p, screen)
	if in.W > 0 && p.search != nil && in.H > 0 {
		p.search.draw(in.Canvas, p.HasFocus())
		in = in.Below(1)
	}
	if in.W <= 0 || in.H <= 0 {
		return
	}
	e, prefix := p.shown(), p.prefix(in.W)
	e.SetWidth(edit.Room(in.W, prefix))
	cursor, col := e.CursorRow()
	p.top = e.VisibleFrom(p.top, cursor, in.H)
	text := in.At(draw.Width(prefix))
	for i, r := 0, p.top; i < in.H; i++ {
		if r == (edit.Row{}) {
			in.Down(i).Spans(0, prefix...)
		}
		drawRow(p, text.Down(i), e, r)
		if r == cursor && p.HasFocus() && p.search == nil {
			screen.ShowCursor(min(text.X+col, in.X+in.W-1), in.Y+i)
		}
		next := e.RowsOn(r, 1)
		if next == r {
			break
		}
		r = next
	}
}

// drawRow draws a row of the text, or hints if there is none.
func drawRow(p *Prompt, c draw.Canvas, e *edit.Editor, r edit.Row) {
	switch {
	case p.search != nil:
		edit.DrawRow(c, e, r, themes.Text, 0)
		return
	case e.Empty():
		c.Say(0, offered(c.W), themes.Muted)
	case shell(p):
		edit.DrawRow(c, e, r, themes.Shell, 0)
	default:
		command := 0
		if r == (edit.Row{}) {
			first, _ := e.FirstLine()
			command = p.popup.known(first)
		}
		edit.DrawRow(c, e, r, themes.Text, command)
	}
	p.vi.DrawSelection(c, e, r)
}

// offered returns hints of at most w cells.
func offered(w int) string {
	text := ""
	for i, part := range [...]string{"Ask anything", "/ commands", "@ files", "! shell"} {
		if i > 0 {
			part = " · " + part
		}
		if len([]rune(text+part)) > w {
			break
		}
		text += part
	}
	return text
}
