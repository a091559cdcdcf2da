package views

import (
	"strings"

	"buddy/themes"
)

// atMost shortens rows of w cells to so many; … says that something is missing.
func atMost(rows [][]span, most, w int) [][]span {
	if len(rows) <= most || most < 1 {
		return rows[:max(0, min(most, len(rows)))]
	}
	kept := append([][]span(nil), rows[:most]...)
	kept[most-1] = clip(append(append([]span(nil), kept[most-1]...), own(themes.Muted, " …")), w)
	return kept
}

// wrapSentence breaks spans into rows of at most w cells, between words where that is
// possible. Rows lose the blanks at which they were broken, so it is not for what must be
// seen to the letter.
func wrapSentence(spans []span, w int) [][]span {
	w = max(w, 2)
	rows, used := [][]span{nil}, 0
	var gap []span // before the next word, if it has room in the row
	for _, word := range words(spans) {
		if strings.HasPrefix(word[0].text, " ") {
			gap = word
			continue
		}
		if n := spansWidth(gap) + spansWidth(word); used > 0 && used+n <= w {
			rows[len(rows)-1] = append(append(rows[len(rows)-1], gap...), word...)
			used += n
			continue
		}
		if used > 0 {
			rows = append(rows, nil)
		}
		parts := wrapSpans(word, w)
		rows = append(rows[:len(rows)-1], parts...)
		used = spansWidth(parts[len(parts)-1])
	}
	return rows
}

// words cuts spans into words and the blanks between them.
func words(spans []span) [][]span {
	var all [][]span
	wasBlank := false
	for _, sp := range spans {
		for text := sp.text; text != ""; {
			blank := text[0] == ' '
			n := strings.IndexFunc(text, func(r rune) bool { return (r == ' ') != blank })
			if n < 0 {
				n = len(text)
			}
			if part := (span{text[:n], sp.style, sp.key}); len(all) > 0 && blank == wasBlank {
				all[len(all)-1] = append(all[len(all)-1], part)
			} else {
				all = append(all, []span{part})
			}
			wasBlank, text = blank, text[n:]
		}
	}
	return all
}

// wrapWords breaks text of ours between words.
func wrapWords(text string, w int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && textWidth(line)+1+textWidth(word) > w {
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
