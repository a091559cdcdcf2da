package file

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"buddy/texts"
)

// prefilter is a text to search for before a pattern is matched. Such searches reject most lines much faster than a
// regular expression can.
type prefilter struct {
	text []byte
	fold *texts.Fold // searches without regard to case; text is lower-case ASCII then. nil: case matters
}

// maxPrefilters bounds the texts that are searched for.
const maxPrefilters = 10

// prefiltersOf returns texts such that every match of a pattern contains at least one of them; none if there are no
// such texts.
func prefiltersOf(expr string) []prefilter {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return required(re.Simplify())
}

func required(re *syntax.Regexp) []prefilter {
	switch re.Op {
	case syntax.OpLiteral:
		if l := longestRun(re.Rune, re.Flags&syntax.FoldCase != 0); len(l.text) > 0 {
			return []prefilter{l}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []prefilter
		for _, sub := range re.Sub {
			set := required(sub)
			if n, m := shortest(set), shortest(best); n > m || n == m && len(set) < len(best) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all []prefilter
		for _, sub := range re.Sub {
			set := required(sub)
			if set == nil || len(all)+len(set) > maxPrefilters {
				return nil
			}
			all = append(all, set...)
		}
		return all
	}
	return nil
}

// shortest returns the length of the shortest text in a set: the longer it is, the more lines the set rejects.
func shortest(set []prefilter) int {
	n := 0
	for i, l := range set {
		if i == 0 || len(l.text) < n {
			n = len(l.text)
		}
	}
	return n
}

// longestRun returns the longest part of a literal that matches only one sequence of bytes. It leaves out the
// replacement character, which matches invalid UTF-8, and, with fold, letters that have a case variant outside ASCII.
func longestRun(runes []rune, fold bool) prefilter {
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
		return prefilter{text: best}
	}
	folded := texts.NewFold(lower)
	return prefilter{text: lower, fold: &folded}
}

// index returns where the text first occurs in data, or -1.
func (l prefilter) index(data []byte) int {
	if l.fold == nil {
		return bytes.Index(data, l.text)
	}
	return l.fold.Index(data)
}

// finder finds the texts of a set in data, from start to end.
type finder struct {
	set  []prefilter
	data []byte
	next []int // the next offset of each text, len(data) for none
}

func newFinder(set []prefilter, data []byte) *finder {
	f := &finder{set: set, data: data, next: make([]int, len(set))}
	for i := range f.next {
		f.next[i] = -1
	}
	return f
}

// from returns the first offset, at or after at, where one of the texts occurs, or len(data). at must not decrease from
// call to call.
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
