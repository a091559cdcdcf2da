package views

import (
	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/markup"
)

// span is safe text of one style, on one line. A click on it presses its key, if it has one.
type span struct {
	text  string
	style markup.Style
	key   keymap.Key
}

// own returns text of ours.
func own(r themes.Role, text string) span { return span{text: text, style: markup.Style{Role: r}} }

// foreign returns untrusted text with everything in it shown (see [markup.Line]).
func foreign(r themes.Role, text string) []span {
	t := markup.Line(text, markup.Style{Role: r})
	spans := make([]span, len(t.Runs))
	from := 0
	for i, run := range t.Runs {
		spans[i] = span{text: string(t.Bytes[from:run.End]), style: run.Style}
		from = int(run.End)
	}
	return spans
}

func textWidth(text string) int { return markup.Width([]byte(text)) }

func spansWidth(spans []span) int {
	w := 0
	for _, sp := range spans {
		w += textWidth(sp.text)
	}
	return w
}

// cut returns as much of a text as fits into w cells.
func cut(text string, w int) string {
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

// shorten is clip for a text of one style.
func shorten(text string, w int) string {
	switch {
	case w < 1:
		return ""
	case textWidth(text) <= w:
		return text
	}
	return cut(text, w-1) + "…"
}

// clip shortens spans to w cells; … says that something is missing.
func clip(spans []span, w int) []span {
	if w < 1 {
		return nil
	}
	if spansWidth(spans) <= w {
		return spans
	}
	var kept []span
	free := w - 1
	for _, sp := range spans {
		n := textWidth(sp.text)
		if n < free {
			kept = append(kept, sp)
			free -= n
			continue
		}
		return append(kept, span{cut(sp.text, free) + "…", sp.style, sp.key})
	}
	return kept
}

// wrapSpans breaks spans into rows of at most w cells.
func wrapSpans(spans []span, w int) [][]span {
	w = max(w, 2)
	rows := [][]span{nil}
	used := 0
	for _, sp := range spans {
		for text := sp.text; text != ""; {
			part := cut(text, w-used)
			if part == "" {
				rows, used = append(rows, nil), 0
				if part = cut(text, w); part == "" {
					break // no character is wider than a row
				}
			}
			last := len(rows) - 1
			rows[last] = append(rows[last], span{part, sp.style, sp.key})
			used += textWidth(part)
			text = text[len(part):]
		}
	}
	return rows
}

// spans draws spans from a column on and returns the column after them.
func (c canvas) spans(col int, spans ...span) int {
	for _, sp := range spans {
		from := col
		if col = c.run([]byte(sp.text), col, c.palette.cell(sp.style, nil)); sp.key != (keymap.Key{}) {
			*c.spots = append(*c.spots, keySpot{c.x + from, c.y, col - from, sp.key})
		}
	}
	return col
}

// rows draws rows from the top and returns how many there are.
func (a area) rows(rows [][]span) int {
	for i, r := range rows[:min(len(rows), a.h)] {
		a.down(i).spans(0, r...)
	}
	return len(rows)
}

func joined(spans []span) []byte {
	var b []byte
	for _, sp := range spans {
		b = append(b, sp.text...)
	}
	return b
}
