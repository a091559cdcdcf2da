package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tooMuch returns why a text is too large or too nested to be parsed, or "".
func tooMuch(text string) string {
	if len(text) > maxText || strings.Count(text, " ")+strings.Count(text, "\n")+strings.Count(text, ";") > maxWords {
		return "the command is too long to check"
	}
	nesting := 0
	for _, opening := range []string{"(", "{", "`", "[", "if ", "do ", "case "} {
		nesting += strings.Count(text, opening)
	}
	if nesting > maxNesting {
		return "the command is too deeply nested to check"
	}
	return ""
}

// unreadable returns why a user, or another shell, may read a text differently from the shell that runs it, or "". Such
// a text is never read-only, but rules still apply to its visible commands.
func unreadable(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "the command is not valid text"
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		return "the command contains a control character"
	case strings.Contains(text, "\\\n") && strings.Contains(text, "#"):
		return "some shells may continue a comment on the next line, and others end it"
	case strings.HasSuffix(text, `\`):
		return "the command is incomplete"
	case strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && invisible(r) }):
		return "the command contains an invisible or direction-changing character"
	}
	return ""
}

// invisible reports whether a character is invisible or misleading: a control or format character, or an unusual space.
func invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.IsSpace(r) ||
		unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) && r != 0xFE0F ||
		r == 0x2800 || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0
}

// lookAlike reports whether s contains non-ASCII characters that can be mistaken for others: anything but letters,
// digits and marks, or letters of several scripts.
func lookAlike(s string) bool {
	latin, other := false, false
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			latin = latin || unicode.IsLetter(r)
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee):
			other = true
		case r >= 0xFF00 && r <= 0xFFEF:
			return true // full-width forms of ASCII
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.Is(unicode.So, r):
		default:
			return true
		}
	}
	return latin && other
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

const numerals = "0123456789"

// plain reports whether s consists only of letters, digits and the characters in more.
func plain(s, more string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"+numerals+more) == ""
}

func digits(s string) bool { return s != "" && strings.Trim(s, numerals) == "" }
