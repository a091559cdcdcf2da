package transcript

import (
	"unicode/utf8"

	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/pattern"
)

// marker shows where a pattern matches in rows that were drawn. The nil marker shows
// nothing.
type marker struct {
	*pattern.Pattern
	part, off int // of the match that was visited; part is noPart in other blocks
}

const noPart = -2

// marker returns what marks the matches in a block; nil if nothing is searched for.
func (f *finder) marker(vp *viewport, block int) *marker {
	if f.Text == "" {
		return nil
	}
	m := &marker{&f.Pattern, noPart, 0}
	if f.visited && block == f.at.block && (f.at.part == headPart || vp.shows(f.at)) {
		m.part, m.off = f.at.part, f.at.off
	}
	return m
}

// head marks the matches in the head of a call, which was drawn from the canvas's
// beginning on.
func (m *marker) head(c draw.Canvas, head []draw.Span) {
	if m != nil {
		text := draw.Bytes(head)
		m.mark(c, text, 0, len(text), headPart)
	}
}

// row marks the matches in row i of parts that lie below each other.
func (m *marker) row(c draw.Canvas, parts []part, i int) {
	if m == nil {
		return
	}
	n, i := partAt(parts, i)
	if n < 0 {
		return
	}
	p := &parts[n]
	_, col, _ := p.layout.Rest(p.text, i)
	row := p.layout.Rows[i]
	m.mark(c.At(col), p.text.Bytes, int(row.From), int(row.To), n)
}

// mark marks the matches in the bytes from..to of a text, which were drawn from the
// canvas's beginning on. A match may begin in the row before, or end in the next one.
func (m *marker) mark(c draw.Canvas, text []byte, from, to, part int) {
	st := c.Palette[themes.Match]
	at := max(from-m.Longest(), 0)
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	end := min(to+m.Longest(), len(text))
	for a, b := m.Next(text[:end], at); a >= 0 && a < to; a, b = m.Next(text[:end], b) {
		c.Restyle(text, from, max(a, from), min(b, to), st)
	}
	if part == m.part && m.off < to {
		if a, b := m.Next(text[:end], max(m.off, at)); a == m.off {
			c.Restyle(text, from, max(a, from), min(b, to), st.Bold(true).Underline(true))
		}
	}
}
