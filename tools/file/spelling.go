package file

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// trait is a way in which spellings can differ without looking different, such as the kind of a space.
type trait uint

const (
	composed trait = 1 << iota // é as one character, or as e and an accent
	spaces
	quotes
	dashes
	unseen // characters without a width
	blanks // spaces and tabs: how many, and at the ends of lines
	cased

	everyTrait = cased<<1 - 1
)

// traitNames holds two names of each trait: one for a character that has it, "" if none can, and one for the trait
// itself.
var traitNames = map[trait][2]string{
	spaces: {"wide or narrow space", "spaces"}, quotes: {"curly quote", "quotes"}, dashes: {"long dash", "dashes"},
	unseen: {"character without a width", "characters without a width"},
	blanks: {"", "the number of spaces"}, cased: {"", "case"},
}

// traitOf returns the trait of a character that is easily mistaken for another one, and that other character, -1 for
// none.
func traitOf(r rune) (trait, rune) {
	switch {
	case r <= unicode.MaxASCII:
		return 0, r
	case unicode.Is(unicode.Zs, r):
		return spaces, ' '
	case strings.ContainsRune("‘’‚‛′ʼ", r):
		return quotes, '\''
	case strings.ContainsRune("“”„‟″", r):
		return quotes, '"'
	case unicode.Is(unicode.Pd, r) || r == '−':
		return dashes, '-'
	case strings.ContainsRune("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", r):
		return unseen, -1
	default:
		return 0, r
	}
}

// folded is a text without the differences of some traits, so that texts that differ only in these traits are equal.
type folded struct {
	ignored trait
	text    []byte
	at      []int32 // for each byte of text, and for the end of text: the offset in the original
	blank   int32   // offset of pending spaces that are not yet in text, -1 for none
}

// foldText removes the differences of the ignored traits from s, which has at most 2 GiB.
func foldText(s string, ignored trait) *folded {
	f := &folded{ignored: ignored, text: make([]byte, 0, len(s)), at: make([]int32, 0, len(s)+1), blank: -1}
	for i := 0; i < len(s); {
		n := 1
		if s[i] >= utf8.RuneSelf || i+1 < len(s) && s[i+1] >= utf8.RuneSelf { // an accent may follow
			n = max(norm.NFC.NextBoundaryInString(s[i:], true), 1)
		}
		part := s[i : i+n]
		if ignored&composed != 0 && n > 1 {
			part = norm.NFC.String(part)
		}
		for _, r := range part {
			f.add(r, int32(i))
		}
		i += n
	}
	if f.blank >= 0 {
		f.at = append(f.at, f.blank)
	} else {
		f.at = append(f.at, int32(len(s)))
	}
	return f
}

// add appends the character that comes from an offset.
func (f *folded) add(r rune, at int32) {
	if t, as := traitOf(r); t&f.ignored != 0 {
		if r = as; r < 0 {
			return
		}
	}
	if f.ignored&cased != 0 {
		r = unicode.ToLower(unicode.ToUpper(r))
	}
	if f.ignored&blanks != 0 {
		begins := len(f.text) == 0 || f.text[len(f.text)-1] == '\n'
		switch {
		case r == ' ' || r == '\t' || r == '\r':
			if f.blank < 0 && !begins {
				f.blank = at
			}
			return
		case f.blank >= 0 && r != '\n':
			f.text, f.at = append(f.text, ' '), append(f.at, f.blank)
		}
		f.blank = -1
	}
	before := len(f.text)
	for f.text = utf8.AppendRune(f.text, r); before < len(f.text); before++ {
		f.at = append(f.at, at)
	}
}

func fold(s string, ignored trait) string { return string(foldText(s, ignored).text) }

// differences describes how an existing spelling differs from the given one: "has a no-break space (U+00A0), differs in
// case". The two must be equal when all traits are ignored.
func differences(there, given string) string {
	var all []string
	for t := composed; t <= cased; t <<= 1 {
		if fold(there, everyTrait&^t) != fold(given, everyTrait&^t) {
			all = append(all, traitDifference(t, there, given))
		}
	}
	if len(all) == 0 {
		return "has bytes that are not UTF-8"
	}
	return strings.Join(all, ", ")
}

// traitDifference describes how an existing spelling differs from the given one in one trait.
func traitDifference(t trait, there, given string) string {
	tabs, none := strings.Count(there, "\t"), strings.Count(given, "\t")
	switch {
	case t == composed && norm.NFC.IsNormalString(there):
		return "has composed letters (NFC)"
	case t == composed:
		return "has decomposed letters (NFD)"
	case t == blanks && tabs > 0 && none == 0:
		return "has tabs, not spaces"
	case t == blanks && tabs == 0 && none > 0:
		return "has spaces, not tabs"
	}
	if r := onlyIn(t, there, given); r != 0 {
		return "has a " + characterName(t, r)
	}
	if r := onlyIn(t, given, there); r != 0 {
		return "has no " + characterName(t, r)
	}
	return "differs in " + traitNames[t][1]
}

// onlyIn returns a character of a trait that is in s but not in other, 0 for none.
func onlyIn(t trait, s, other string) rune {
	for _, r := range s {
		if of, _ := traitOf(r); of == t && !strings.ContainsRune(other, r) {
			return r
		}
	}
	return 0
}

// characterName names a character of a trait.
func characterName(t trait, r rune) string {
	name := traitNames[t][0]
	switch r {
	case '\u00a0':
		name = "no-break space"
	case '\u202f':
		name = "narrow no-break space"
	}
	return fmt.Sprintf("%s (U+%04X)", name, r)
}

// jsonEscapes are the short escapes of JSON.
var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\t': `\t`, '\r': `\r`}

// spelled returns a text as a JSON string. Characters that are easily mistaken for others are escaped, so that a reader
// can reproduce the text exactly.
func spelled(s string) string {
	var b strings.Builder
	for _, r := range s {
		t, _ := traitOf(r)
		switch escape := jsonEscapes[r]; {
		case escape != "":
			b.WriteString(escape)
		case unicode.IsControl(r) || r <= 0xffff && (t != 0 || unicode.Is(unicode.Mn, r)):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
