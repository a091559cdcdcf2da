package redact

import "strings"

// Stream removes secrets from text that comes in pieces, also secrets split between pieces. It
// shows a prompt at once: it only holds back bytes that become a secret if a few more follow,
// at most 4 KiB of them. Only one goroutine may use a Stream at a time.
type Stream struct {
	find *finder
	text string // what may matter for the next piece
	out  int    // how much of text was returned or replaced
	scan int    // where to continue scanning
	open int    // index of a secret that was replaced and may go on; -1: none
}

// Stream returns a new Stream.
func (r *Redactor) Stream() *Stream { return &Stream{find: r.finder(), open: -1} }

// Write takes the next piece and returns what can be shown now.
func (s *Stream) Write(piece string) string {
	s.text += piece
	return s.step(false)
}

// Flush returns what was held back and resets the stream.
func (s *Stream) Flush() string {
	shown := s.step(true)
	*s = Stream{find: s.find, open: -1}
	return shown
}

// step scans the text from where it stopped. end means that nothing follows.
func (s *Stream) step(end bool) string {
	var b strings.Builder
	next, free := max(s.scan, len(s.text)-s.find.long), len(s.text)
	for i := s.scan; ; {
		at, m := s.find.next(s.text, i)
		if at < 0 {
			break
		}
		i = at + 1
		if m.is {
			s.mark(&b, at, m)
			i = max(i, m.to)
		}
		if m.more && !end {
			next = min(next, at)
			if m.from < len(s.text) { // else nothing of it is there yet
				free = m.from
				break
			}
		} else if s.open == at {
			s.open = -1
		}
	}
	s.show(&b, free)
	s.scan = next
	s.forget()
	return b.String()
}

// mark writes a Mark for a secret, unless it has one.
func (s *Stream) mark(b *strings.Builder, at int, m match) {
	if at != s.open && m.to > s.out {
		s.show(b, m.from)
		b.WriteString(Mark)
		s.open = at
	}
	s.out = max(s.out, m.to)
}

// show writes the text up to an index.
func (s *Stream) show(b *strings.Builder, to int) {
	if to > s.out {
		b.WriteString(s.text[s.out:to])
		s.out = to
	}
}

// before is the number of bytes before an index that decide whether a word begins there.
const before = 32

// forget drops text that no longer matters.
func (s *Stream) forget() {
	if drop := min(s.scan-before, s.out); drop > 4*before {
		s.text = s.text[drop:]
		s.out -= drop
		s.scan -= drop
		s.open = max(-1, s.open-drop)
	}
}
