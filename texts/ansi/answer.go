package ansi

import "strings"

// IsIntroducer reports whether ESC and b start a string: OSC, DCS, APC, PM or SOS of ECMA-48. ESC and b may also be a
// key with Alt.
func IsIntroducer(b byte) bool { return strings.IndexByte("]P_^X", b) >= 0 }

// IsAnswer reports whether b, after ESC and an introducer, starts a terminal's answer to a query. Otherwise ESC and the
// introducer were a key with Alt.
func IsAnswer(introducer, b byte) bool {
	switch introducer {
	case ']': // a number, or l and L, which precede a title
		return b >= '0' && b <= '9' || b == 'l' || b == 'L'
	case 'P': // parameters, or the marks of a private answer
		return b > 0x20 && b <= 0x3f
	case '_': // kitty's graphics, and numbers of glyphs. Alt+_ is one of our keys
		return b == 'G' || b >= '0' && b <= '9'
	case '^', 'X':
		return b >= 0x20 && b != 0x7f
	}
	return false
}
