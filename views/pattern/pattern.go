// Package pattern finds what a person typed in texts. A [Pattern] finds it exactly; a
// [Prefilter] rejects most texts that cannot show it, before they are laid out.
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

// MaxQuery limits the bytes of a text to look for.
const MaxQuery = 256

// Pattern holds a text to look for, as it is written or, if it has no capital, in any case.
// The zero pattern finds nothing.
type Pattern struct {
	Text  string
	fold  []rune    // the text folded; nil when capitals count
	first [256]bool // with fold: bytes that a match may begin with
}

// New returns the pattern for a text, which finds nothing if it is empty.
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

// Finder returns what looks for a text as the search of the conversation does, in which
// capitals count only when the text has one: it returns the offset of the first place, or -1.
func Finder(text string) func([]byte) int {
	p := New(text)
	return func(b []byte) int {
		at, _ := p.Next(b, 0)
		return at
	}
}

// foldRune returns one rune for all that differ in case only.
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

// Longest returns the most bytes that a match can have.
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

// prefix returns how many bytes of b the folded text takes at its beginning, 0 for none.
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
