package file

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"buddy/texts"
)

// literal is a text that may have to be in a match of a pattern. Looking for such texts
// first skips most lines much faster than a regular expression can.
type literal struct {
	text []byte
	fold *texts.Fold // finds it in any case; text is lower case then, and ASCII; nil: case counts
}

// maxLiterals is how many texts are looked for at most.
const maxLiterals = 10

// literalsOf returns texts of which every match of a pattern contains at least one; none
// if there are no such texts.
func literalsOf(expr string) []literal {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return required(re.Simplify())
}

func required(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		if l := longestRun(re.Rune, re.Flags&syntax.FoldCase != 0); len(l.text) > 0 {
			return []literal{l}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			set := required(sub)
			if n, m := shortest(set), shortest(best); n > m || n == m && len(set) < len(best) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			set := required(sub)
			if set == nil || len(all)+len(set) > maxLiterals {
				return nil
			}
			all = append(all, set...)
		}
		return all
	}
	return nil
}

// shortest returns the length of the shortest text, which says how much a set helps.
func shortest(set []literal) int {
	n := 0
	for i, l := range set {
		if i == 0 || len(l.text) < n {
			n = len(l.text)
		}
	}
	return n
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
	folded := texts.NewFold(lower)
	return literal{text: lower, fold: &folded}
}

// index returns where the literal begins in data, or -1.
func (l literal) index(data []byte) int {
	if l.fold == nil {
		return bytes.Index(data, l.text)
	}
	return l.fold.Index(data)
}

// finder finds the texts of a set in data, from the beginning on.
type finder struct {
	set  []literal
	data []byte
	next []int // for each text where it is next, len(data) if nowhere
}

func newFinder(set []literal, data []byte) *finder {
	f := &finder{set: set, data: data, next: make([]int, len(set))}
	for i := range f.next {
		f.next[i] = -1
	}
	return f
}

// from returns where one of the texts is first, not before at, or len(data). at must not
// become smaller.
func (f *finder) from(at int) int {
	first := len(f.data)
	for i, l := range f.set {
		if f.next[i] < at {
			f.next[i] = len(f.data)
			if n := l.index(f.data[at:]); n >= 0 {
				f.next[i] = at + n
			}
		}
		first = min(first, f.next[i])
	}
	return first
}
