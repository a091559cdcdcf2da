package markup

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WordAround returns the bounds of the text that a double click at the byte off of text selects: the word with that
// byte or, if its character does not belong to words, the character alone.
func WordAround(text []byte, off int) (from, to int) {
	if r, n := utf8.DecodeRune(text[off:]); !inWord(r) {
		return off, off + n
	}
	from, to = off, off
	for from > 0 {
		r, n := utf8.DecodeLastRune(text[:from])
		if !inWord(r) {
			break
		}
		from -= n
	}
	for to < len(text) {
		r, n := utf8.DecodeRune(text[to:])
		if !inWord(r) {
			break
		}
		to += n
	}
	if short := len(bytes.TrimRight(text[from:to], ".:")) + from; short > off {
		to = short // the end of a sentence is not part of a path
	}
	return from, to
}

// inWord reports whether a character belongs to words that people copy: names, paths, addresses, options.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || strings.ContainsRune("_-./~:@%+#=?&$*", r)
}
