package pane

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	promptLines = 3   // of a command shown in the pane
	promptRunes = 300 // of each line

	promptRead = 8 << 10 // bytes of a command that are examined
)

// Prompt returns the text that a pane shows for a command: its first lines, with control characters made visible.
func Prompt(cmd string) string {
	lines := strings.Split(strings.TrimRight(cmd, "\n"), "\n")
	more := len(lines) - promptLines
	if more > 0 {
		lines = lines[:promptLines]
	}
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n> ")
		}
		visible(&b, line, promptRunes)
	}
	if more > 0 {
		fmt.Fprintf(&b, "\r\n… %d more lines", more)
	}
	return b.String()
}

// visible writes at most n runes of s. It replaces control characters by pictures, and runes that are invisible or
// change the direction of the text by their numbers.
func visible(b *strings.Builder, s string, n int) {
	for i, r := range s {
		if n--; n < 0 {
			b.WriteString("…")
			return
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(b, "‹%02X›", s[i])
		case r == '\t':
			b.WriteByte(' ')
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r < utf8.RuneSelf || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(b, "‹U+%04X›", r)
		}
	}
}
