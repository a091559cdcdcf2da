// Package fuzzy ranks texts by how well they match a typed query, for completion, and suggests names after a typing
// mistake.
//
//	score, ok := fuzzy.Fit("app/screen/screen.go", "scgo") // all characters of the query occur, in order
//	name := fuzzy.Nearest("sesion", []string{"session", "status"}) // session
package fuzzy

import (
	"strings"

	"buddy/texts"
)

// The points of a character.
const (
	inName  = 2 // after the last slash
	atStart = 4 // of a word
	noGap   = 5 // right after the previous match
)

// Fit returns how well a text fits a query, higher is better, and whether the text has all characters of the query in
// order. Characters count more in the name at the end of a path, at the start of words and without gaps. If the query
// has no capital, the case of ASCII letters is ignored. An empty query fits all texts, those with few folders best.
func Fit(text, query string) (score int, ok bool) {
	if query == "" {
		return -strings.Count(text, "/"), true
	}
	anyCase := query == strings.ToLower(query)
	base := strings.LastIndexByte(text, '/') + 1
	for _, from := range [...]int{0, base} {
		if s, fits := fitFrom(text, query, from, base, anyCase); fits && (!ok || s > score) {
			score, ok = s, true
		}
	}
	return score, ok
}

// Words is Fit for a text of words: each word of the query must fit, in any order. A word that the text contains as a
// whole counts more than a word whose letters are scattered, and it counts more the earlier it comes.
func Words(text, query string) (score int, ok bool) {
	for word := range strings.FieldsSeq(query) {
		anyCase := word == strings.ToLower(word)
		s, fits := fitFrom(text, word, 0, 0, anyCase)
		if !fits {
			return 0, false
		}
		if whole := index(text, word, anyCase); whole >= 0 {
			s = len(word)*(noGap+inName+atStart) + bonus(text, whole)
		}
		score += s
	}
	return score, true
}

// index is strings.Index, but ignores the case of ASCII letters if anyCase is set and word has no capital.
func index(text, word string, anyCase bool) int {
	if !anyCase {
		return strings.Index(text, word)
	}
	for at := 0; at+len(word) <= len(text); at++ {
		n := 0
		for n < len(word) && lower(text[at+n]) == word[n] {
			n++
		}
		if n == len(word) {
			return at
		}
	}
	return -1
}

// bonus returns the points of a word for its position.
func bonus(text string, at int) int {
	points := max(0, 8-at/4)
	if startsWord(text, at) {
		points += 2 * atStart
	}
	return points
}

func fitFrom(text, query string, at, base int, anyCase bool) (score int, ok bool) {
	last := -2
	for i := range len(query) {
		for at < len(text) && text[at] != query[i] && (!anyCase || lower(text[at]) != query[i]) {
			at++
		}
		if at == len(text) {
			return 0, false
		}
		if at >= base {
			score += inName
		}
		if at == last+1 {
			score += noGap
		}
		if startsWord(text, at) {
			score += atStart
		}
		last = at
		at++
	}
	return score, true
}

// startsWord reports whether a word starts at an offset: after a separator, or with a capital.
func startsWord(text string, at int) bool {
	if at == 0 || strings.IndexByte("/_-. ", text[at-1]) >= 0 {
		return true
	}
	return text[at] != lower(text[at]) && text[at-1] == lower(text[at-1])
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// maxSlips limits the letters by which a wrong name may differ from the intended one.
const maxSlips = 3

// DidYouMean returns a question for the end of an error message: " (did you mean --model?)". The mark, here "--",
// precedes the name. It returns "" if no name is near enough.
func DidYouMean(mark, wrong string, names []string) string {
	if name := meant(wrong, names); name != "" {
		return " (did you mean " + mark + name + "?)"
	}
	return ""
}

// meant returns the name that a wrong name probably meant: the first that starts with the wrong name, else the most
// similar one; "" if none is similar enough, or if the wrong name has more than 64 bytes. Case is ignored.
func meant(wrong string, names []string) string {
	if wrong == "" || len(wrong) > 64 { // no typing error, and the distance costs length times length
		return ""
	}
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(wrong)) {
			return name
		}
	}
	name := Nearest(wrong, names)
	if d := texts.Distance(strings.ToLower(wrong), strings.ToLower(name)); d > min(maxSlips, (len(wrong)+1)/2) || d >= len(name) {
		return ""
	}
	return name
}

// Nearest returns the first name that differs least from a wrong one; "" if there are no names.
func Nearest(wrong string, names []string) string {
	best, least := "", 1<<30
	for _, name := range names {
		if d := texts.Distance(strings.ToLower(wrong), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}
