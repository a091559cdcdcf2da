package file

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"buddy/tools"
)

// hitBytes limits the length of a shown line, in bytes.
const hitBytes = 300

// matcher finds lines in a text.
type matcher struct {
	re      *regexp.Regexp
	need    []prefilter // every match contains one of these, so other lines are rejected cheaply
	context int         // context lines around a match
	most    int         // maximum number of matching lines; find looks for one more
}

// hit is a line of the result.
type hit struct {
	number int // from 1
	text   string
	match  bool // false for a context line
}

// span is a matching line: its number and its offsets.
type span struct{ number, start, end int }

func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0
}

// find returns the matching lines of data with their context, and the number of matches, which is at most m.most+1.
func (m *matcher) find(data []byte) ([]hit, int) {
	spans := m.spans(data)
	if len(spans) == 0 {
		return nil, 0
	}
	var hits []hit
	if m.context == 0 {
		for _, s := range spans {
			hits = append(hits, hit{s.number, m.shorten(data[s.start:s.end]), true})
		}
		return hits, len(spans)
	}
	all := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	last := 0 // number of the last line in hits
	for i, s := range spans {
		for n := max(s.number-m.context, last+1); n < s.number; n++ {
			hits = append(hits, hit{n, m.shorten(all[n-1]), false})
		}
		hits = append(hits, hit{s.number, m.shorten(all[s.number-1]), true})
		last = min(s.number+m.context, len(all))
		if i+1 < len(spans) {
			last = min(last, spans[i+1].number-1)
		}
		for n := s.number + 1; n <= last; n++ {
			hits = append(hits, hit{n, m.shorten(all[n-1]), false})
		}
	}
	return hits, len(spans)
}

// spans returns the first matching lines.
func (m *matcher) spans(data []byte) []span {
	var found []span
	number, counted := 1, 0 // counted is the offset of the line with that number
	texts := newFinder(m.need, data)
	for at := 0; at < len(data) && len(found) <= m.most; {
		start := at
		if m.need != nil {
			i := texts.from(at)
			if i == len(data) {
				break
			}
			start = at + bytes.LastIndexByte(data[at:i], '\n') + 1
		}
		end := len(data)
		if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
			end = start + i
		}
		if m.re.Match(bytes.TrimSuffix(data[start:end], []byte("\r"))) {
			number += bytes.Count(data[counted:start], []byte("\n"))
			counted = start
			found = append(found, span{number, start, end})
		}
		at = end + 1
	}
	return found
}

// shorten returns line for display; a long line is cut around the match.
func (m *matcher) shorten(line []byte) string {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) <= hitBytes {
		return strings.ToValidUTF8(string(line), "\ufffd")
	}
	from := 0
	if loc := m.re.FindIndex(line); loc != nil {
		from = max(0, min(loc[0]-hitBytes/3, len(line)-hitBytes))
	}
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	cut := tools.Head(string(line[from:]), hitBytes)
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if from+len(cut) < len(line) {
		after = "…"
	}
	return before + strings.ToValidUTF8(cut, "\ufffd") + after
}
