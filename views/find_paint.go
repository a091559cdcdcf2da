package views

import (
	"unicode/utf8"

	"buddy/themes"
	"buddy/views/markup"
)

// marker shows where a pattern matches in rows that were drawn. The nil marker shows
// nothing.
type marker struct {
	*pattern
	part, off int // of the match that was visited; part is noPart in other blocks
}

const noPart = -2

// marker returns what marks the matches in a block; nil if nothing is searched for.
func (c *Conversation) marker(block int) *marker {
	f := &c.find
	if f.text == "" {
		return nil
	}
	m := &marker{&f.pattern, noPart, 0}
	if f.visited && block == f.at.block && (f.at.part == headPart || c.shows(f.at)) {
		m.part, m.off = f.at.part, f.at.off
	}
	return m
}

// head marks the matches in the head of a call, which was drawn from the canvas's
// beginning on.
func (m *marker) head(c canvas, head []span) {
	if m != nil {
		text := joined(head)
		m.mark(c, text, 0, len(text), headPart)
	}
}

// row marks the matches in row i of parts that lie below each other.
func (m *marker) row(c canvas, parts []part, i int) {
	if m == nil {
		return
	}
	n, i := partAt(parts, i)
	if n < 0 {
		return
	}
	p := &parts[n]
	_, col := p.layout.Rest(p.text, i)
	row := p.layout.Rows[i]
	m.mark(c.at(col), p.text.Bytes, int(row.From), int(row.To), n)
}

// mark marks the matches in the bytes from..to of a text, which were drawn from the
// canvas's beginning on. A match may begin in the row before, or end in the next one.
func (m *marker) mark(c canvas, text []byte, from, to, part int) {
	st := c.palette[themes.Match]
	at := max(from-m.longest(), 0)
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	end := min(to+m.longest(), len(text))
	for a, b := m.next(text[:end], at); a >= 0 && a < to; a, b = m.next(text[:end], b) {
		c.restyle(text, from, max(a, from), min(b, to), st)
	}
	if part == m.part && m.off < to {
		if a, b := m.next(text[:end], max(m.off, at)); a == m.off {
			c.restyle(text, from, max(a, from), min(b, to), st.Bold(true).Underline(true))
		}
	}
}

// drawFind draws the line that takes the text, with the cursor at its end.
func (c *Conversation) drawFind(row canvas) {
	row.fill(0, row.w, c.palette[themes.Text])
	status := c.findStatus()
	room := row.w - 1
	if n := textWidth(status); n+12 < row.w {
		row.say(row.w-n, status, themes.Muted)
		room -= n + 1
	}
	col := row.cols(0, room).say(0, "find: ", themes.Accent)
	text := foreign(themes.Text, c.find.text)
	for col+spansWidth(text) > room && len(text) > 0 { // its end is what is being typed
		n, _ := markup.Cluster([]byte(text[0].text))
		if text[0].text = text[0].text[n:]; text[0].text == "" {
			text = text[1:]
		}
	}
	col = row.cols(0, max(room, 0)).spans(col, text...)
	if c.HasFocus() && col < row.w {
		row.screen.ShowCursor(row.x+col, row.y)
	}
}
