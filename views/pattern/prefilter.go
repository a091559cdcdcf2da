package pattern

import (
	"bytes"
	"strings"
)

// Prefilter rejects texts that cannot show the pattern. It searches the raw text for a word of the pattern, which is
// much faster than laying the text out. The displayed text may lack marks of the raw text and may have letters that the
// raw text encodes as numbers; the prefilter accepts texts where this may matter. The zero prefilter accepts all texts.
type Prefilter struct {
	word   string // lower case ASCII letters, searched in any case
	buffer []byte // reused
}

// PrefilterGain is the cost of laying out a byte, relative to the cost of prefiltering a byte.
const PrefilterGain = 32

// commonness is the frequency of letters, in tenths of a percent.
var commonness = map[byte]int{
	'a': 82, 'b': 15, 'c': 28, 'd': 43, 'e': 127, 'f': 22, 'g': 20, 'h': 61, 'i': 70, 'j': 2, 'k': 8, 'l': 40, 'm': 24,
	'n': 67, 'o': 75, 'p': 19, 'q': 1, 'r': 60, 's': 63, 't': 91, 'u': 28, 'v': 10, 'w': 24, 'x': 2, 'y': 20, 'z': 1,
}

// NewPrefilter selects the rarest part of a pattern: the end of one of its words.
func NewPrefilter(p *Pattern) Prefilter {
	var s Prefilter
	least := 1000
	for word := range strings.FieldsFuncSeq(strings.ToLower(p.Text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		for i := range len(word) - 1 {
			if n := commonness[word[i]]; n < least && !ownWord(word[i:]) {
				least, s.word = n, word[i:]
			}
		}
	}
	return s
}

// ownWord reports whether a word may be displayed without being in the text: as a part of "image" or of the number of a
// control character.
func ownWord(word string) bool {
	return strings.Contains("image", word) || strings.Trim(word, "abcdefu") == ""
}

// Useful reports whether the prefilter can reject any text.
func (s *Prefilter) Useful() bool { return s.word != "" }

// LacksString is like Lacks, for a string.
func (s *Prefilter) LacksString(text string) bool {
	s.buffer = append(s.buffer[:0], text...)
	return s.Lacks(s.buffer)
}

// Lacks reports whether a text certainly does not show the pattern.
func (s *Prefilter) Lacks(text []byte) bool {
	return s.word != "" && !encodes(text) && !s.find(text)
}

// encodes reports whether a text may be displayed with letters that it does not contain, or in another order.
func encodes(text []byte) bool {
	for _, odd := range []string{"\b", "&#", "&fjlig", "\u212a", "\u017f"} { // entities with letters; runes that fold to k and s
		if bytes.Contains(text, []byte(odd)) {
			return true
		}
	}
	return overwrites(text) || numbers(text)
}

// overwrites reports whether a line returns to its start.
func overwrites(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\r')
		if i < 0 {
			return false
		}
		if text = text[i+1:]; len(text) == 0 || text[0] != '\n' {
			return true
		}
	}
}

// numbers reports whether the text may contain letters in the form of JSON escapes such as \u00e9.
func numbers(text []byte) bool {
	for {
		i := bytes.Index(text, []byte(`\u`))
		if i < 0 || i+5 > len(text) {
			return false
		}
		sign := string(text[i+2:i+5]) < "004" // <, & and quotes
		if beyond := text[i+2] >= '3'; !sign && !beyond {
			return true
		}
		text = text[i+2:]
	}
}

// find reports whether a text contains the word, or may contain it.
func (s *Prefilter) find(text []byte) bool {
	lower, upper := s.word[0], s.word[0]-'a'+'A'
	nextLower, nextUpper := bytes.IndexByte(text, lower), bytes.IndexByte(text, upper)
	for nextLower >= 0 || nextUpper >= 0 {
		at := nextLower
		if at < 0 || nextUpper >= 0 && nextUpper < at {
			at = nextUpper
			nextUpper = after(text, at, upper)
		} else {
			nextLower = after(text, at, lower)
		}
		if s.continues(text[at+1:]) {
			return true
		}
	}
	return false
}

func after(text []byte, at int, b byte) int {
	if i := bytes.IndexByte(text[at+1:], b); i >= 0 {
		return at + 1 + i
	}
	return -1
}

// continues reports whether the text after the first letter of the word may be displayed as its rest.
func (s *Prefilter) continues(text []byte) bool {
	for i := 1; i < len(s.word); {
		if len(text) == 0 {
			return false
		}
		if text[0]|0x20 == s.word[i] {
			text = text[1:]
			i++
			continue
		}
		n, sure := hidden(text)
		if !sure {
			return true
		}
		if n == 0 {
			return false
		}
		text = text[n:]
	}
	return true
}

// hidden returns how many bytes at the start of a text may be invisible, and whether they certainly are.
func hidden(text []byte) (n int, sure bool) {
	switch b := text[0]; {
	case b == 0x1b:
		return colour(text)
	case b == '\n', b == '\t', b == '\r':
		return 0, true
	case b == '&', b < ' ', b >= 0x7f:
		return 0, false
	}
	return marks(text)
}

// colour does what hidden does, for escape sequences that set colours. Other sequences may have further effects.
func colour(text []byte) (n int, sure bool) {
	n = 2
	for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n] == ';') {
		n++
	}
	if n >= len(text) || text[1] != '[' || text[n] != 'm' {
		return 0, false
	}
	return n + 1, true
}

// marks does what hidden does, for markdown marks.
func marks(text []byte) (n int, sure bool) {
	for n < len(text) && strings.IndexByte("*~`[]<>_", text[n]) >= 0 {
		n++
		if text[n-1] != ']' || n == len(text) {
			continue
		}
		switch text[n] {
		case '[', ':':
			return 0, false
		case '(': // the target of a link
			end := bytes.IndexAny(text[n+1:], "()\\<\"'\n")
			if end < 0 || text[n+1+end] != ')' {
				return 0, false
			}
			n += end + 2
		}
	}
	if len(bytes.Trim(text[:n], "_")) == 0 {
		return 0, true // visible inside a word
	}
	return n, true
}
