// Package pattern implements the search for a text that the user typed. A [Pattern] finds its matches in a text. A
// [Prefilter] rejects most texts without a match, so that they need not be laid out for the search.
//
//	p := pattern.New("tax")
//	from, to := p.Next(text, 0)
package pattern

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxQuery limits a search text, in bytes.
const MaxQuery = 256

// Pattern is a text to search for. It ignores case unless the text has a capital. The zero pattern finds nothing.
type Pattern struct {
	Text  string
	fold  []rune    // the folded text; nil: case matters
	first [256]bool // with fold: bytes that can start a match
}

// New returns the pattern for a text. The pattern for an empty text finds nothing.
func New(text string) Pattern {
	p := Pattern{Text: text}
	if text == "" || text != strings.ToLower(text) {
		return p
	}
	for _, r := range text {
		p.fold = append(p.fold, foldRune(r))
	}
	start, _ := utf8.DecodeRuneInString(text)
	for r := start; ; {
		p.first[string(r)[0]] = true
		if r = unicode.SimpleFold(r); r == start {
			return p
		}
	}
}

// Finder returns a function that returns the offset of the first match, or -1, by the same rules as a search in the
// conversation. It ignores case unless the text has a capital.
func Finder(text string) func([]byte) int {
	p := New(text)
	return func(b []byte) int {
		at, _ := p.Next(b, 0)
		return at
	}
}

// foldRune returns the same rune for all runes that differ only in case.
func foldRune(r rune) rune {
	least := r
	if r >= utf8.RuneSelf {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

// Longest returns the maximum number of bytes of a match.
func (p *Pattern) Longest() int { return max(len(p.Text), len(p.fold)*utf8.UTFMax) }

// Next returns the first match in b at or after an offset; from is -1 if there is none.
func (p *Pattern) Next(b []byte, at int) (from, to int) {
	switch {
	case p.Text == "" || at >= len(b):
		return -1, -1
	case p.fold == nil:
		i := bytes.Index(b[at:], []byte(p.Text))
		if i < 0 {
			return -1, -1
		}
		return at + i, at + i + len(p.Text)
	}
	for ; at < len(b); at++ {
		if !p.first[b[at]] {
			continue
		}
		if n := p.prefix(b[at:]); n > 0 {
			return at, at + n
		}
	}
	return -1, -1
}

// prefix returns the length of the match at the start of b, 0 for none.
func (p *Pattern) prefix(b []byte) int {
	n := 0
	for _, want := range p.fold {
		if n == len(b) {
			return 0
		}
		r, size := rune(b[n]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(b[n:])
		}
		if foldRune(r) != want {
			return 0
		}
		n += size
	}
	return n
}
