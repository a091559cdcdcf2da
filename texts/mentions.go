package texts

import (
	"iter"
	"strings"
	"unicode"
)

// Mention is a name after an @ in a text: @main.go, or @"two words.txt".
type Mention struct {
	Name   string
	Quoted bool
}

// quotedMention matches a mention in quotes, in which quotes and backslashes are escaped by a backslash.
var quotedMention = Regexp(`^@"((?:[^"\\\n]|\\.)+)"`)

var (
	quote   = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	unquote = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
)

// Mentions returns the names after an @ at the start of a word. Punctuation at the end of an unquoted name belongs to
// the sentence.
func Mentions(text string) iter.Seq[Mention] {
	return func(yield func(Mention) bool) {
		for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeftFunc(text, unicode.IsSpace) {
			var m Mention
			if m, text = firstWord(text); m.Name != "" && !yield(m) {
				return
			}
		}
	}
}

// firstWord returns the mention in the first word of a text, with an empty name if it is none, and the rest of the
// text.
func firstWord(text string) (m Mention, rest string) {
	if strings.HasPrefix(text, `@"`) {
		if found := quotedMention().FindStringSubmatch(text); found != nil {
			return Mention{Name: unquote.Replace(found[1]), Quoted: true}, text[len(found[0]):]
		}
	}
	word := text
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		word, rest = text[:end], text[end:]
	}
	if name, ok := strings.CutPrefix(word, "@"); ok {
		m.Name = strings.TrimRight(name, ",;:.!?)")
	}
	return m, rest
}

// String returns the mention in the form that Mentions reads, with quotes if the name needs them.
func (m Mention) String() string {
	if plain, rest := firstWord("@" + m.Name); !m.Quoted && plain == m && rest == "" {
		return "@" + m.Name
	}
	return `@"` + quote.Replace(m.Name) + `"`
}
