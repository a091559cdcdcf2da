package reminder

import (
	"regexp"
	"strings"

	"buddy/texts"
)

// The tags around a reminder. [Inert] removes them from all other texts.
const (
	begin = "<system-reminder>"
	end   = "</system-reminder>"
)

// tag matches what a model might read as a reminder tag: in any case, with spaces, attributes or an underscore.
var tag = regexp.MustCompile(`(?i)<(\s*/?\s*system[-_ ]reminder[^<>]*)>`)

// Inert replaces the angle brackets of reminder tags, as in ‹system-reminder›, so that a text can't forge or end a
// reminder.
func Inert(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return tag.ReplaceAllString(text, "‹$1›")
}

// Wrap puts a text between reminder tags. A text that is already a reminder is not wrapped twice.
func Wrap(text string) string {
	return begin + "\n" + Inert(Unwrap(text)) + "\n" + end
}

// Unwrap returns the text between reminder tags, or the trimmed text if it is not a reminder.
func Unwrap(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, begin); ok {
		if inner, ok = strings.CutSuffix(inner, end); ok {
			return strings.TrimSpace(inner)
		}
	}
	return text
}

// omission marks the end of a truncated text.
const omission = "… [cut off]"

// cut truncates a text to n bytes; it returns "" if hardly anything would remain.
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
