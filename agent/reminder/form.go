package reminder

import (
	"regexp"
	"strings"

	"buddy/texts"
)

// The tags around a reminder. Text from elsewhere never has them, see [Inert].
const (
	begin = "<system-reminder>"
	end   = "</system-reminder>"
)

// tag is a tag as a model may still read it: in any case, with blanks, attributes or an underscore.
var tag = regexp.MustCompile(`(?i)<(\s*/?\s*system[-_ ]reminder[^<>]*)>`)

// Inert returns a text in which no tag of a reminder is left: ‹system-reminder› instead.
func Inert(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return tag.ReplaceAllString(text, "‹$1›")
}

// Wrap returns a text as a reminder. One that is a reminder already stays as it is.
func Wrap(text string) string {
	return begin + "\n" + Inert(Unwrap(text)) + "\n" + end
}

// Unwrap returns what a reminder tells. A text that is none stays as it is, but for blanks around it.
func Unwrap(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, begin); ok {
		if inner, ok = strings.CutSuffix(inner, end); ok {
			return strings.TrimSpace(inner)
		}
	}
	return text
}

// omission ends a text of which the rest is left out.
const omission = "… [cut off]"

// cut returns at most n bytes of a text, and "" when hardly any of it would be left.
func cut(text string, n int) string {
	const least = 100
	switch {
	case len(text) <= n:
		return text
	case n < least:
		return ""
	}
	return strings.TrimSuffix(texts.ClipBytes(text, n-len(omission)), "…") + omission
}
