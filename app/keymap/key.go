package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
)

// Key is a key press that is the same on every terminal: different reports of one key become one Key. The zero Key is
// no key.
type Key struct {
	code tcell.Key // tcell.KeyRune for characters
	char rune      // lower case when mod has Ctrl or Alt
	mod  tcell.ModMask
}

// named maps keys to their written names.
var named = map[tcell.Key]string{
	tcell.KeyEnter: "Enter", tcell.KeyTab: "Tab", tcell.KeyEsc: "Esc", tcell.KeyBackspace: "Backspace",
	tcell.KeyDelete: "Delete", tcell.KeyInsert: "Insert", tcell.KeyUp: "Up", tcell.KeyDown: "Down",
	tcell.KeyLeft: "Left", tcell.KeyRight: "Right", tcell.KeyHome: "Home", tcell.KeyEnd: "End",
	tcell.KeyPgUp: "PgUp", tcell.KeyPgDn: "PgDn",
	tcell.KeyF1: "F1", tcell.KeyF2: "F2", tcell.KeyF3: "F3", tcell.KeyF4: "F4", tcell.KeyF5: "F5", tcell.KeyF6: "F6",
	tcell.KeyF7: "F7", tcell.KeyF8: "F8", tcell.KeyF9: "F9", tcell.KeyF10: "F10", tcell.KeyF11: "F11", tcell.KeyF12: "F12",
}

// controls maps tcell's own codes for Ctrl and a sign to the sign.
var controls = map[tcell.Key]rune{
	tcell.KeyCtrlSpace: ' ', tcell.KeyCtrlBackslash: '\\', tcell.KeyCtrlRightSq: ']',
	tcell.KeyCtrlCarat: '^', tcell.KeyCtrlUnderscore: '_',
}

// Of returns the Key of an event. Ctrl+H is Backspace, Ctrl+I is Tab, Ctrl+M is Enter and Ctrl+[ is Esc, because most
// terminals cannot tell them apart.
func Of(ev *tcell.EventKey) Key {
	k := Key{ev.Key(), ev.Rune(), ev.Modifiers()}
	switch {
	case k.code == tcell.KeyBackspace2:
		k.code = tcell.KeyBackspace
	case k.code == tcell.KeyBacktab:
		k.code, k.mod = tcell.KeyTab, k.mod|tcell.ModShift
	case k.code == tcell.KeyCtrlLeftSq:
		k.code, k.mod = tcell.KeyEsc, k.mod&^tcell.ModCtrl
	case k.code >= tcell.KeyCtrlA && k.code <= tcell.KeyCtrlZ:
		k.char, k.code, k.mod = 'a'+rune(k.code-tcell.KeyCtrlA), tcell.KeyRune, k.mod|tcell.ModCtrl
	case controls[k.code] != 0:
		k.char, k.code, k.mod = controls[k.code], tcell.KeyRune, k.mod|tcell.ModCtrl
	}
	return k.normal()
}

// aliases maps the letters and signs of Ctrl keys to the named keys that send the same on legacy terminals.
var aliases = map[rune]tcell.Key{
	'h': tcell.KeyBackspace, 'i': tcell.KeyTab, 'j': tcell.KeyEnter, 'm': tcell.KeyEnter, '[': tcell.KeyEsc,
}

// normal unifies different reports of the same key.
func (k Key) normal() Key {
	if k.code != tcell.KeyRune {
		k.char = 0
		return k
	}
	if k.mod&(tcell.ModCtrl|tcell.ModAlt) == 0 {
		k.mod &^= tcell.ModShift // the character includes it
		return k
	}
	if k.mod&tcell.ModCtrl == 0 || !unicode.IsLetter(k.char) {
		k.mod &^= tcell.ModShift
	}
	k.char = unicode.ToLower(k.char)
	if k.mod&tcell.ModCtrl == 0 {
		return k
	}
	if k.char == '/' || k.char == '-' { // what terminals send as ^_
		k.char = '_'
	}
	// Ctrl+J alone stays a key of its own, because Enter never sends it in raw mode. With Alt, legacy terminals send it
	// for Alt+Enter.
	if code, ok := aliases[k.char]; ok && k.mod&tcell.ModShift == 0 && (k.char != 'j' || k.mod&tcell.ModAlt != 0) {
		return Key{code: code, mod: k.mod &^ tcell.ModCtrl}
	}
	return k
}

// text returns the character that the key types without modifiers; other keys type nothing, "".
func (k Key) text() string {
	if !k.plain() {
		return ""
	}
	return string(k.char)
}

// Typed returns the key that types a character.
func Typed(char rune) Key { return Key{code: tcell.KeyRune, char: char} }

// plain reports whether the key is a character without modifiers.
func (k Key) plain() bool { return k.code == tcell.KeyRune && k.mod == 0 && k.char != 0 }

// modifiers lists modifier names in writing order.
var modifiers = []struct {
	mask tcell.ModMask
	name string
}{{tcell.ModCtrl, "Ctrl"}, {tcell.ModAlt, "Alt"}, {tcell.ModShift, "Shift"}, {tcell.ModMeta, "Meta"}, {tcell.ModHyper, "Hyper"}}

// String writes the key as Parse reads it; the zero Key is "".
func (k Key) String() string {
	if k == (Key{}) {
		return ""
	}
	var b strings.Builder
	for _, m := range modifiers {
		if k.mod&m.mask != 0 {
			b.WriteString(m.name + "+")
		}
	}
	switch name, ok := named[k.code]; {
	case ok:
		b.WriteString(name)
	case k.char == ' ':
		b.WriteString("Space")
	case k.mod&(tcell.ModCtrl|tcell.ModAlt) != 0:
		b.WriteRune(unicode.ToUpper(k.char))
	default:
		b.WriteRune(k.char)
	}
	return b.String()
}

// Parse reads names such as "Ctrl+A", "Alt+Enter", "F8", "Space", "x" and "?". Names are not case-sensitive, plain
// characters are; "Ctrl-A" is accepted too.
func Parse(name string) (Key, error) {
	rest, mod := name, tcell.ModNone
	for {
		// The separator may itself be the key, as in "Ctrl++".
		i := strings.IndexAny(rest, "+-")
		if i <= 0 || i == len(rest)-1 {
			break
		}
		m, err := parseModifier(rest[:i])
		if err != nil {
			return Key{}, fmt.Errorf("key %q: %w", name, err)
		}
		mod, rest = mod|m, rest[i+1:]
	}
	if strings.EqualFold(rest, "space") {
		return Key{tcell.KeyRune, ' ', mod}.normal(), nil
	}
	for code, n := range named {
		if strings.EqualFold(rest, n) {
			return Key{code: code, mod: mod}, nil
		}
	}
	char, size := utf8.DecodeRuneInString(rest)
	if size == 0 || size != len(rest) || !unicode.IsPrint(char) {
		return Key{}, fmt.Errorf("key %q: %q is not a key (have: a character, Space, %s)", name, rest,
			strings.Join(slices.Sorted(maps.Values(named)), ", "))
	}
	if mod == tcell.ModShift {
		return Key{}, fmt.Errorf("key %q: write the shifted character itself, without Shift+", name)
	}
	return Key{tcell.KeyRune, char, mod}.normal(), nil
}

func parseModifier(name string) (tcell.ModMask, error) {
	for _, m := range modifiers[:3] {
		if strings.EqualFold(m.name, name) {
			return m.mask, nil
		}
	}
	return 0, fmt.Errorf("unknown modifier %q (have: Ctrl, Alt, Shift)", name)
}

// Event returns the press of the key, for programs and tests that press actions instead of keys.
func (k Key) Event() *tcell.EventKey { return tcell.NewEventKey(k.code, k.char, k.mod) }
