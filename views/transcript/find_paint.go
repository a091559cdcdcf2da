package transcript

import (
	"unicode/utf8"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/pattern"
)

// marker highlights matches in drawn rows. The nil marker does nothing.
type marker struct {
	*pattern.Pattern
	part, off int // of the visited match; part is noPart in other blocks
}

const noPart = -2

// marker returns the marker of a block; nil without a search.
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

// head highlights the matches in the head of a call, drawn at the start of the canvas.
func (m *marker) head(c draw.Canvas, head []draw.Span) {
	if m != nil {
		text := draw.Bytes(head)
		m.mark(c, text, 0, len(text), headPart)
	}
}

// row highlights the matches in row i of parts stacked vertically.
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

// mark highlights the matches in the bytes from..to of a text, drawn at the start of the canvas. A match may start in
// the previous row or end in the next one.
func (m *marker) mark(c draw.Canvas, text []byte, from, to, part int) {
	st, visited := c.Palette[themes.Match], c.Palette[themes.Focus].Reverse(true).Bold(true).Underline(true)
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
			c.Restyle(text, from, max(a, from), min(b, to), visited)
		}
	}
}

// drawFind draws the search line: the text, the number of the visited match, and notices. Once the text is accepted,
// the line names the keys for further matches.
func drawFind(c *Conversation, row draw.Canvas, spans []draw.Span) {
	row.Fill(0, row.W, c.Palette[themes.Text])
	row = row.Cols(min(draw.Padding, row.W), min(c.view.size.w+draw.Padding, row.W))
	right := []draw.Span{draw.Text(themes.Strong, c.find.status(&c.view))}
	if len(spans) > 0 {
		right = append(append(right, draw.Text(themes.Muted, " · ")), spans...)
	}
	if !c.find.typing {
		var hints []draw.Hint
		for _, h := range []struct {
			action keymap.Action
			label  string
		}{{keymap.FindNext, "next"}, {keymap.FindPrevious, "previous"}, {keymap.Back, "close"}} {
			if keys := c.Keys.Keys(h.action); len(keys) > 0 {
				hints = append(hints, draw.Hint{Key: keys[0], Label: h.label})
			}
		}
		room := row.W - draw.Width(right) - draw.TextWidth(c.find.Text) - 12
		if keys := draw.HintRow(hints, room); len(keys) > 0 {
			right = append(append(right, draw.Text(themes.Muted, "   ")), keys...)
		}
	}
	draw.SearchLine(row, c.find.Text, right, c.HasFocus() && c.find.typing)
}
