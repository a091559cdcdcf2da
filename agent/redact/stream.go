package redact

import (
	"slices"
	"strings"
)

// Stream removes secrets from text that arrives in pieces, including secrets split between pieces. Its whole output
// equals [Redactor.Text] of the whole text. It holds back only bytes that may become a secret, at most 4 KiB, so a
// program's prompt for input is shown at once. It is not safe for concurrent use.
//
// One difference remains: the last lines of a private key without its beginning are recognized only at the end of
// the key, when a Stream has already shown them.
type Stream struct {
	find   *finder
	values []string
	text   string // text that may matter for the next piece
	out    int    // end of the text that was returned or replaced
	scan   int    // where to continue scanning
	marked int    // end of the last replaced secret; -1: none
}

// Stream returns a new Stream.
func (r *Redactor) Stream() *Stream {
	if r == nil {
		return &Stream{find: known, marked: -1}
	}
	return &Stream{find: r.find, values: r.values, marked: -1}
}

// Write adds a piece and returns the text that can be shown now.
func (s *Stream) Write(piece string) string {
	s.text += piece
	shown := s.step(false)
	s.forget()
	return shown
}

// Flush returns the text that was held back and resets the stream.
func (s *Stream) Flush() string {
	shown := s.step(true)
	*s = Stream{find: s.find, values: s.values, marked: -1}
	return shown
}

// step scans the text from the last position. end means that the text is complete.
func (s *Stream) step(end bool) string {
	var b strings.Builder
	from, marked := s.out, s.marked
	free := s.scanText(&b, end)
	if s.marked == marked && b.Len() == 0 { // the common case: no copy
		s.out = max(s.out, free)
		return s.text[from:s.out]
	}
	s.show(&b, free)
	return b.String()
}

// scanText writes text with secrets replaced, and returns the end of the text that can be shown.
func (s *Stream) scanText(b *strings.Builder, end bool) (free int) {
	var ahead []match // secrets whose hints were seen, by start; others may start before them
	free = s.beginsValue(end)
	done, held, first := 0, len(s.text), 0 // first is the hint of ahead[0]
	for i := s.scan; ; {
		at, m := s.find.next(s.text, i, end)
		if len(ahead) > 0 && (at < 0 || at >= ahead[0].from) {
			s.mark(b, ahead[0])
			if ahead[0].more {
				free = min(free, ahead[0].to)
				break
			}
			i, done = max(i, ahead[0].to), max(done, ahead[0].to)
			ahead = ahead[1:]
			continue
		}
		if at < 0 {
			break
		}
		i = at + 1
		if m.more {
			held = min(held, at)
		}
		if m.is {
			if len(ahead) == 0 {
				first = at
			}
			n, _ := slices.BinarySearchFunc(ahead, m, func(a, b match) int { return a.from - b.from })
			ahead = slices.Insert(ahead, n, m)
		} else if m.from < len(s.text) { // later text decides
			free = min(free, m.from)
			for _, a := range ahead {
				held = min(held, first)
				if a.from < m.from {
					s.mark(b, match{from: a.from, to: min(a.to, m.from)})
				}
			}
			break
		}
	}
	s.scan = min(held, max(s.scan, done, len(s.text)-s.find.long))
	return free
}

// beginsValue returns the index where a value passed to New may start at the end of the text, or the text's length.
func (s *Stream) beginsValue(end bool) int {
	at := len(s.text)
	if end {
		return at
	}
	for _, v := range s.values {
		for i := max(s.out, len(s.text)-len(v)+1); i < at; i++ {
			if s.text[i] == v[0] && strings.HasPrefix(v, s.text[i:]) {
				at = i
			}
		}
	}
	return at
}

// mark replaces a secret. Adjacent secrets share one Mark, and so do overlapping matches.
func (s *Stream) mark(b *strings.Builder, m match) {
	if m.to <= s.out {
		return
	}
	if s.marked < 0 || m.from > s.marked || s.out > s.marked {
		s.show(b, m.from)
		b.WriteString(Mark)
	}
	s.out, s.marked = m.to, m.to
}

func (s *Stream) show(b *strings.Builder, to int) {
	if to > s.out {
		b.WriteString(s.text[s.out:to])
		s.out = to
	}
}

// before limits how far back from an index a match there may look, in bytes.
const before = 160

func (s *Stream) forget() {
	if drop := min(s.scan-before, s.out); drop > 4*before {
		s.text = s.text[drop:]
		s.out -= drop
		s.scan -= drop
		s.marked = max(-1, s.marked-drop)
	}
}
