package keymap

import (
	"fmt"
	"unicode"

	"github.com/gdamore/tcell/v2"
)

// letters maps keys whose code ends with a letter, numbers those whose code ends with a number and a tilde.
var (
	letters = map[tcell.Key]byte{
		tcell.KeyUp: 'A', tcell.KeyDown: 'B', tcell.KeyRight: 'C', tcell.KeyLeft: 'D',
		tcell.KeyF1: 'P', tcell.KeyF2: 'Q', tcell.KeyF3: 'R', tcell.KeyF4: 'S',
	}
	numbers = map[tcell.Key]int{
		tcell.KeyHome: 1, tcell.KeyInsert: 2, tcell.KeyDelete: 3, tcell.KeyEnd: 4, tcell.KeyPgUp: 5, tcell.KeyPgDn: 6,
		tcell.KeyF5: 15, tcell.KeyF6: 17, tcell.KeyF7: 18, tcell.KeyF8: 19,
		tcell.KeyF9: 20, tcell.KeyF10: 21, tcell.KeyF11: 23, tcell.KeyF12: 24,
	}
)

// Bytes returns the codes that tmux's terminal sends for a key. app selects the codes that arrow keys send in
// application mode. Keys without a code return nothing.
func Bytes(ev *tcell.EventKey, app bool) []byte {
	k, mods := ev.Key(), modifierCode(ev.Modifiers())
	if letter, ok := letters[k]; ok {
		switch {
		case mods > 1:
			return fmt.Appendf(nil, "\x1b[1;%d%c", mods, letter)
		case app || letter >= 'P':
			return []byte{'\x1b', 'O', letter}
		}
		return []byte{'\x1b', '[', letter}
	}
	if n, ok := numbers[k]; ok {
		switch {
		case mods > 1 && k == tcell.KeyHome:
			return fmt.Appendf(nil, "\x1b[1;%dH", mods)
		case mods > 1 && k == tcell.KeyEnd:
			return fmt.Appendf(nil, "\x1b[1;%dF", mods)
		case mods > 1:
			return fmt.Appendf(nil, "\x1b[%d;%d~", n, mods)
		}
		return fmt.Appendf(nil, "\x1b[%d~", n)
	}
	seq := charBytes(ev)
	if len(seq) > 0 && ev.Modifiers()&(tcell.ModAlt|tcell.ModMeta) != 0 {
		seq = append([]byte{'\x1b'}, seq...)
	}
	return seq
}

// charBytes returns the codes of a key that stands for a character, without Alt.
func charBytes(ev *tcell.EventKey) []byte {
	k, r := ev.Key(), ev.Rune()
	switch {
	case k == tcell.KeyBacktab, k == tcell.KeyTab && ev.Modifiers()&tcell.ModShift != 0:
		return []byte("\x1b[Z")
	case k == tcell.KeyBackspace:
		return []byte{0x7f}
	case k >= 0 && k < ' ':
		return []byte{byte(k)}
	case k >= tcell.KeyCtrlSpace && k <= tcell.KeyCtrlUnderscore:
		return []byte{byte(k - tcell.KeyCtrlSpace)}
	case k != tcell.KeyRune:
		return nil
	case ev.Modifiers()&tcell.ModCtrl == 0:
		return []byte(string(r))
	}
	switch r = unicode.ToUpper(r); {
	case r == ' ':
		return []byte{0}
	case r == '?':
		return []byte{0x7f}
	case r >= '@' && r <= '_':
		return []byte{byte(r) & 0x1f}
	}
	return []byte(string(ev.Rune()))
}

// modifierCode returns xterm's number for modifiers; 1 is none.
func modifierCode(m tcell.ModMask) int {
	n := 1
	for i, mod := range []tcell.ModMask{tcell.ModShift, tcell.ModAlt | tcell.ModMeta, tcell.ModCtrl} {
		if m&mod != 0 {
			n += 1 << i
		}
	}
	return n
}
