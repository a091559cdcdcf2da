package file

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// ends holds the line ends of a text, one for each line that has one.
type ends []string

// lineEnds returns the line ends of a text, and the text with LF everywhere.
func lineEnds(text string) (all ends, bare string) {
	for line := range strings.Lines(text) {
		switch {
		case strings.HasSuffix(line, "\r\n"):
			all = append(all, "\r\n")
		case strings.HasSuffix(line, "\n"):
			all = append(all, "\n")
		}
	}
	return all, toLF(text)
}

// usesCRLF reports whether most lines of text end in CRLF.
func usesCRLF(text string) bool {
	return 2*strings.Count(text, "\r\n") > strings.Count(text, "\n")
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func toCRLF(s string) string { return strings.ReplaceAll(toLF(s), "\n", "\r\n") }

// most returns the most frequent end.
func (e ends) most() string {
	if 2*e.carriages() > len(e) {
		return "\r\n"
	}
	return "\n"
}

// carriages counts the CRLF ends.
func (e ends) carriages() (n int) {
	for _, end := range e {
		n += len(end) - 1
	}
	return n
}

// on replaces the LF ends of lines by the ends of e, in order. When e has no more ends, it uses other.
func (e ends) on(lines, other string) string {
	var out strings.Builder
	for line := range strings.Lines(lines) {
		line, ended := strings.CutSuffix(line, "\n")
		out.WriteString(line)
		switch {
		case !ended:
		case len(e) > 0:
			out.WriteString(e[0])
			e = e[1:]
		default:
			out.WriteString(other)
		}
	}
	return out.String()
}

// parts converts parts of bare, a text with LF line ends, to parts of the same text with the line ends e.
func (e ends) parts(bare string, all []part) []part {
	var parts []part
	most := e.most()
	read, line, more := 0, 0, 0 // more: carriage returns so far
	for _, p := range all {
		first := line + strings.Count(bare[read:p.from], "\n")
		next := first + strings.Count(bare[p.from:p.to], "\n")
		before := more + e[line:first].carriages()
		more = before + e[first:next].carriages()
		parts = append(parts, part{p.from + before, p.to + more, e[first:next].on(p.text, most)})
		read, line = p.to, next
	}
	return parts
}

// keepLineEnds gives a text the line ends of the earlier text: a line that stays or replaces another one keeps its end,
// added lines get the most frequent end. A text with carriage returns is returned unchanged.
func keepLineEnds(was, text string) string {
	if !strings.Contains(was, "\r\n") || strings.Contains(text, "\r") {
		return text
	}
	own, bare := lineEnds(was)
	if own.carriages() == len(own) {
		return toCRLF(text)
	}
	most := own.most()
	var out strings.Builder
	read, line := 0, 0 // offsets in was
	for _, e := range append(udiff.Lines(bare, text), udiff.Edit{Start: len(bare), End: len(bare)}) {
		same := bare[read:e.Start]
		out.WriteString(own[line:].on(same, most))
		line += strings.Count(same, "\n")
		next := line + strings.Count(bare[e.Start:e.End], "\n")
		out.WriteString(own[line:next].on(e.New, most))
		read, line = e.End, next
	}
	return out.String()
}
