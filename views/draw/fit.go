package draw

import (
	"strings"

	"buddy/themes"
)

// AtMost shortens a list of rows of w cells; … marks missing rows.
func AtMost(rows [][]Span, most, w int) [][]Span {
	if len(rows) <= most || most < 1 {
		return rows[:max(0, min(most, len(rows)))]
	}
	kept := append([][]Span(nil), rows[:most]...)
	kept[most-1] = Clip(append(append([]Span(nil), kept[most-1]...), Text(themes.Muted, " …")), w)
	return kept
}

// WrapSentence breaks spans into rows of at most w cells, between words if possible. Spaces at breaks are lost, so it
// is not suitable for text whose characters all matter.
func WrapSentence(spans []Span, w int) [][]Span {
	w = max(w, 2)
	rows, used := [][]Span{nil}, 0
	var gap []Span // before the next word, if it fits into the row
	for _, word := range words(spans) {
		if strings.HasPrefix(word[0].Text, " ") {
			gap = word
			continue
		}
		if n := Width(gap) + Width(word); used > 0 && used+n <= w {
			rows[len(rows)-1] = append(append(rows[len(rows)-1], gap...), word...)
			used += n
			continue
		}
		if used > 0 {
			rows = append(rows, nil)
		}
		parts := WrapSpans(word, w)
		rows = append(rows[:len(rows)-1], parts...)
		used = Width(parts[len(parts)-1])
	}
	return rows
}

// WrapWhole breaks spans into rows of at most w cells, between words if possible, and keeps every space.
func WrapWhole(spans []Span, w int) [][]Span {
	w = max(w, 2)
	rows, used := [][]Span{nil}, 0
	for _, word := range words(spans) {
		if blank := strings.HasPrefix(word[0].Text, " "); !blank && used > 0 && used+Width(word) > w {
			rows = append(rows, nil)
		}
		last := len(rows) - 1
		rows = append(rows[:last], WrapSpans(append(rows[last], word...), w)...)
		used = Width(rows[len(rows)-1])
	}
	return rows
}

// words splits spans into words and the spaces between them.
func words(spans []Span) [][]Span {
	var all [][]Span
	wasBlank := false
	for _, sp := range spans {
		for text := sp.Text; text != ""; {
			blank := text[0] == ' '
			n := strings.IndexFunc(text, func(r rune) bool { return (r == ' ') != blank })
			if n < 0 {
				n = len(text)
			}
			if part := (Span{text[:n], sp.Style, sp.key}); len(all) > 0 && blank == wasBlank {
				all[len(all)-1] = append(all[len(all)-1], part)
			} else {
				all = append(all, []Span{part})
			}
			wasBlank, text = blank, text[n:]
		}
	}
	return all
}

// WrapWords breaks trusted text between words.
func WrapWords(text string, w int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && TextWidth(line)+1+TextWidth(word) > w {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
