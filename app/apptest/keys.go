package apptest

import (
	"fmt"
	"strings"
	"testing/synctest"
	"unicode/utf8"
)

// Mouse actions for [UI.Mouse].
const (
	MousePress     = "press"
	MouseDrag      = "drag"
	MouseRelease   = "release"
	MouseWheelUp   = "wheel up"
	MouseWheelDown = "wheel down"
)

// Mouse sends an action of the left button or the wheel at x, y, counted from 0.
func (ui *UI) Mouse(action string, x, y int) {
	ui.t.Helper()
	button, ok := map[string]int{MousePress: 0, MouseDrag: 32, MouseRelease: 0, MouseWheelUp: 64, MouseWheelDown: 65}[action]
	if !ok {
		ui.t.Fatalf("unknown mouse action %q", action)
	}
	final := 'M'
	if action == MouseRelease {
		final = 'm'
	}
	ui.Terminal.Type(fmt.Sprintf("\x1b[<%d;%d;%d%c", button, x+1, y+1, final))
	synctest.Wait()
}

// Click presses and releases the left button at x, y.
func (ui *UI) Click(x, y int) {
	ui.t.Helper()
	ui.Mouse(MousePress, x, y)
	ui.Mouse(MouseRelease, x, y)
}

// named maps the keys that send an escape sequence to the end of the sequence: its last byte, or a number and a tilde.
var named = map[string]string{
	"Up": "A", "Down": "B", "Right": "C", "Left": "D", "End": "F", "Home": "H",
	"Insert": "2~", "Delete": "3~", "PgUp": "5~", "PgDn": "6~",
	"F1": "11~", "F2": "12~", "F3": "13~", "F4": "14~", "F5": "15~", "F6": "17~",
	"F7": "18~", "F8": "19~", "F9": "20~", "F10": "21~", "F11": "23~", "F12": "24~",
}

// The bits of xterm's modifier parameter, which is 1 plus their sum.
const (
	shift = 1 << iota
	alt
	ctrl
)

// keyBytes returns what xterm sends for a key. Enter and Backspace with Shift or Ctrl are sent in
// the form that tcell asks terminals for.
func keyBytes(name string) (string, error) {
	mods, key := modifiers(name)
	if seq, ok := named[key]; ok {
		return namedBytes(seq, mods), nil
	}
	switch {
	case key == "Backtab", key == "Tab" && mods == shift:
		return "\x1b[Z", nil
	case key == "Enter" && mods&^alt != 0:
		return fmt.Sprintf("\x1b[13;%du", mods+1), nil
	case key == "Backspace" && mods&^alt != 0:
		return fmt.Sprintf("\x1b[127;%du", mods+1), nil
	}
	seq, ok := map[string]string{"Enter": "\r", "Esc": "\x1b", "Tab": "\t", "Backspace": "\x7f", "Space": " "}[key]
	if !ok {
		seq = key
	}
	if utf8.RuneCountInString(seq) != 1 {
		return "", fmt.Errorf("unknown key %q in %q", key, name)
	}
	if mods&ctrl != 0 {
		c := strings.ToUpper(seq)[0]
		if c == ' ' {
			c = '@'
		}
		if !between(int(c), '@', '_') {
			return "", fmt.Errorf("key %q cannot be typed with Ctrl", name)
		}
		seq = string(rune(c & 0x1f))
	}
	if mods&alt != 0 {
		seq = "\x1b" + seq
	}
	return seq, nil
}

func modifiers(name string) (mods int, key string) {
	for {
		mod, rest, ok := strings.Cut(name, "+")
		bit := map[string]int{"Shift": shift, "Alt": alt, "Ctrl": ctrl}[mod]
		if !ok || bit == 0 {
			return mods, name
		}
		mods, name = mods|bit, rest
	}
}

func namedBytes(seq string, mods int) string {
	number, tilde := strings.CutSuffix(seq, "~")
	switch {
	case mods == 0:
		return "\x1b[" + seq
	case tilde:
		return fmt.Sprintf("\x1b[%s;%d~", number, mods+1)
	}
	return fmt.Sprintf("\x1b[1;%d%s", mods+1, seq)
}
