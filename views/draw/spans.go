package draw

import (
	"strings"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/markup"
)

// Span is safe text of one style, on one line. A click on a span with a key presses the key.
type Span struct {
	Text  string
	Style markup.Style
	key   keymap.Key
}

// Text returns a span of trusted text.
func Text(r themes.Role, text string) Span { return Span{Text: text, Style: markup.Style{Role: r}} }

// Untrusted returns untrusted text with all characters visible (see [markup.Line]).
func Untrusted(r themes.Role, text string) []Span {
	return spansOf(markup.Line(text, markup.Style{Role: r}))
}

// Printed returns a line of a program's output with its colours, without other escape sequences. Text without a colour
// has the role's.
func Printed(r themes.Role, line string) []Span {
	w := markup.Writer{Terminal: true, Role: r}
	w.Write([]byte(line))
	w.Close()
	spans := spansOf(&w.Text)
	for i := range spans {
		spans[i].Text = strings.Map(spaces, spans[i].Text)
	}
	return spans
}

// spaces replaces the controls that safe text may have.
func spaces(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// spansOf returns the runs of safe text.
func spansOf(t *markup.Text) []Span {
	spans := make([]Span, len(t.Runs))
	from := 0
	for i, run := range t.Runs {
		spans[i] = Span{Text: string(t.Bytes[from:run.End]), Style: run.Style}
		from = int(run.End)
	}
	return spans
}

// TextWidth returns the number of cells of a text.
func TextWidth(text string) int { return markup.Width([]byte(text)) }

// Width returns the number of cells of spans.
func Width(spans []Span) int {
	w := 0
	for _, sp := range spans {
		w += TextWidth(sp.Text)
	}
	return w
}

// Cut returns the start of a text that fits into w cells.
func Cut(text string, w int) string {
	p := []byte(text)
	end, col := 0, 0
	for end < len(p) {
		n, width := markup.Cell(p[end:], col)
		if col+width > w {
			break
		}
		end, col = end+n, col+width
	}
	return text[:end]
}

// Shorten shortens a text to w cells; … marks a cut.
func Shorten(text string, w int) string {
	switch {
	case w < 1:
		return ""
	case TextWidth(text) <= w:
		return text
	}
	return Cut(text, w-1) + "…"
}

// Clip shortens spans to w cells; … marks a cut.
func Clip(spans []Span, w int) []Span {
	if w < 1 {
		return nil
	}
	if Width(spans) <= w {
		return spans
	}
	var kept []Span
	free := w - 1
	for _, sp := range spans {
		n := TextWidth(sp.Text)
		if n < free {
			kept = append(kept, sp)
			free -= n
			continue
		}
		return append(kept, Span{Cut(sp.Text, free) + "…", sp.Style, sp.key})
	}
	return kept
}

// WrapSpans breaks spans into rows of at most w cells.
func WrapSpans(spans []Span, w int) [][]Span {
	w = max(w, 2)
	rows := [][]Span{nil}
	used := 0
	for _, sp := range spans {
		for text := sp.Text; text != ""; {
			part := Cut(text, w-used)
			if part == "" {
				rows, used = append(rows, nil), 0
				if part = Cut(text, w); part == "" {
					break // no character is wider than a row
				}
			}
			last := len(rows) - 1
			rows[last] = append(rows[last], Span{part, sp.Style, sp.key})
			used += TextWidth(part)
			text = text[len(part):]
		}
	}
	return rows
}

// Spans draws spans from a column on and returns the column after them.
func (c Canvas) Spans(col int, spans ...Span) int {
	for _, sp := range spans {
		from := col
		if col = c.Run([]byte(sp.Text), col, c.Palette.cell(sp.Style, nil)); sp.key != (keymap.Key{}) {
			*c.clickable = append(*c.clickable, clickableKey{c.X + from, c.Y, col - from, sp.key})
		}
	}
	return col
}

// Rows draws rows from the top and returns the number of rows.
func (a Area) Rows(rows [][]Span) int {
	for i, r := range rows[:min(len(rows), a.H)] {
		a.Down(i).Spans(0, r...)
	}
	return len(rows)
}

// Bytes returns the text of spans.
func Bytes(spans []Span) []byte {
	var b []byte
	for _, sp := range spans {
		b = append(b, sp.Text...)
	}
	return b
}
