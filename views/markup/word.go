package markup

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WordAround returns the bounds of the word that contains the byte off, which a double click selects. The byte must be
// inside of text. Other characters are selected alone.
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
