package screen

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	// refusedMark replaces a rune that must not reach the terminal. It is visible, because a rune that silently
	// disappears can hide what a command really does.
	refusedMark = "·"

	// maxCombining limits the runes after the first one of a cell.
	maxCombining = 8
)

// refused reports whether r could move the cursor, start an escape sequence or reorder text: controls, bidi marks, line
// separators and tags.
func refused(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r < 0x600:
		return false
	case r == 0x61c, r == 0x200e, r == 0x200f:
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x206f:
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// cleanCluster returns the text shown for a grapheme cluster, and its width of 1 or 2 cells. The width is 0 for an
// invisible cluster (a zero-width space).
func cleanCluster(g string) (string, int) {
	if g == "" {
		return " ", 0
	}
	if len(g) == 1 {
		if refused(rune(g[0])) {
			return refusedMark, 1
		}
		if g[0] < utf8.RuneSelf {
			return g, 1
		}
	}
	runes := 0
	for i, r := range g {
		if refused(r) {
			return refusedMark, 1
		}
		if runes++; runes > 1+maxCombining {
			g = g[:i]
			break
		}
	}
	g = strings.ToValidUTF8(g, "\ufffd")
	switch w := uniseg.StringWidth(g); {
	case w <= 0:
		return " ", 0
	case w > 2: // three-em dash: terminals disagree on its width
		return refusedMark, 1
	default:
		return g, w
	}
}

// plainText returns s without controls, for text within an escape sequence (a title, a notification). A line break
// becomes a space.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case refused(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// pastedText returns the text of a paste: line ends as \n, no control characters except tabs. Escape sequences stay
// visible as text without their ESC.
func pastedText(raw []byte) string {
	s := strings.ToValidUTF8(string(raw), "\ufffd")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\n' || r == '\t':
			return r
		case r < 0x20, r >= 0x7f && r <= 0x9f:
			return -1
		}
		return r
	}, s)
}
