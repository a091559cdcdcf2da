package screen

import (
	"bytes"
	"time"
	"unicode/utf8"
)

const (
	// burstRunes is the number of characters in one read that make it a paste. A read returns the bytes since the last
	// read, and even a fast typist types only about 12 characters a second.
	burstRunes = 8

	// burstPause is the longest pause between two reads of one paste.
	burstPause = 20 * time.Millisecond
)

var crlf = []byte("\r\n")

// burst recognizes pastes in terminals that don't mark them. Text typed before the program started to read is never a
// paste; now must be nil for such text.
type burst struct {
	now  func() time.Time // nil recognizes no paste
	last time.Time        // time of the last read of a paste
}

// length returns the length of the paste at the start of p, 0 if the bytes were typed. A single line end after the text
// counts as Enter, because programs that type for a user send it right after their text.
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

// textRun returns the length of the text at the start of p in bytes and in characters, and whether all characters are
// equal. Line ends and tabs are text; an incomplete last character is not.
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
