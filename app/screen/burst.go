package screen

import (
	"bytes"
	"time"
	"unicode/utf8"
)

const (
	// burstRunes are the characters in one read that nobody types: about 12 a second is fast, and a read takes
	// what came since the last one.
	burstRunes = 8

	// burstPause is the longest pause between two reads of one paste.
	burstPause = 20 * time.Millisecond
)

var crlf = []byte("\r\n")

// burst finds pastes of terminals that don't mark them. What was typed before the program read is
// none: set now to nil for that.
type burst struct {
	now  func() time.Time // nil finds no paste
	last time.Time        // when the last read of a paste came
}

// length returns how many bytes at the beginning of p are a paste, 0 if they are typed. A line end that alone
// ends it is Enter: programs that type for a person send it right after their text.
func (b *burst) length(p []byte) int {
	if b.now == nil {
		return 0
	}
	n, runes, same := textRun(p)
	more := len(p) > 1 && n > 0 && !b.last.IsZero() && b.now().Sub(b.last) < burstPause
	if !more && (runes < burstRunes || same) {
		return 0 // a key that is held down repeats itself
	}
	b.last = b.now()
	if end := len(bytes.TrimRight(p[:n], "\r\n")); n == len(p) && n-end <= len(crlf) && !bytes.ContainsAny(p[:end], "\r\n") && !more {
		return end
	}
	return n
}

// textRun returns the length of the text at the beginning of p in bytes and in characters, and whether these are all
// the same. Line ends and tabs are text; a last character that is not whole isn't.
func textRun(p []byte) (n, runes int, same bool) {
	same = true
	first, _ := utf8.DecodeRune(p)
	for n < len(p) && (p[n] >= ' ' && p[n] != 0x7f || p[n] == '\r' || p[n] == '\n' || p[n] == '\t') && utf8.FullRune(p[n:]) {
		r, size := utf8.DecodeRune(p[n:])
		same = same && r == first
		n, runes = n+size, runes+1
	}
	return n, runes, same
}
