package tools

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// literal is a text that every match of a pattern contains. Looking for it first skips
// most lines much faster than a regular expression can.
type literal struct {
	text []byte
	fold bool // in any case; text is lower case then, and ASCII
	rare int  // fold: index of a byte of text that is seldom
}

// literalOf returns the longest such text of a pattern; its text is nil if there is none.
func literalOf(expr string) literal {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return literal{}
	}
	l := required(re.Simplify())
	if l.fold {
		for i := range l.text {
			if strings.IndexByte(seldom, l.text[i]) > strings.IndexByte(seldom, l.text[l.rare]) {
				l.rare = i
			}
		}
	}
	return l
}

// seldom has the letters from frequent to rare in source code. What is not in it counts
// as frequent.
const seldom = "etrinasolcdpufmhgbyxvwkqzj"

func required(re *syntax.Regexp) literal {
	switch re.Op {
	case syntax.OpLiteral:
		return longestRun(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best literal
		for _, sub := range re.Sub {
			if l := required(sub); len(l.text) > len(best.text) {
				best = l
			}
		}
		return best
	}
	return literal{}
}

// longestRun returns the longest part of a literal that stands for one text of bytes
// only: without the replacement character, which matches bytes that are no UTF-8, and
// where case does not count without the letters that have a relative outside ASCII.
func longestRun(runes []rune, fold bool) literal {
	var best, run []byte
	for _, r := range runes {
		if r == utf8.RuneError || fold && (r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r)) {
			run = nil
			continue
		}
		run = utf8.AppendRune(run, r)
		if len(run) > len(best) {
			best = bytes.Clone(run)
		}
	}
	lower := bytes.ToLower(best)
	if !fold || bytes.Equal(lower, bytes.ToUpper(best)) {
		return literal{text: best}
	}
	return literal{text: lower, fold: true}
}

// index returns where the literal begins in data, or -1.
func (l literal) index(data []byte) int {
	if !l.fold {
		return bytes.Index(data, l.text)
	}
	lower := l.text[l.rare]
	upper := bytes.ToUpper(l.text[l.rare : l.rare+1])[0]
	nextLower, nextUpper := -1, -1
	for at := l.rare; at < len(data); {
		if nextLower < at {
			nextLower = indexFrom(data, lower, at)
		}
		if nextUpper < at {
			nextUpper = indexFrom(data, upper, at)
		}
		at = min(nextLower, nextUpper)
		start := at - l.rare
		if start+len(l.text) > len(data) {
			return -1
		}
		if bytes.EqualFold(data[start:start+len(l.text)], l.text) {
			return start
		}
		at++
	}
	return -1
}

// indexFrom returns the index of c in data from at on, or len(data).
func indexFrom(data []byte, c byte, at int) int {
	if i := bytes.IndexByte(data[at:], c); i >= 0 {
		return at + i
	}
	return len(data)
}
