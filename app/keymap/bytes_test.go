package keymap

import (
	"testing"

	"github.com/gdamore/tcell/v2"
)

// Keys become the bytes that a terminal sends (terminfo screen-256color, xterm's modifiers).
func TestBytes(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "é": "é", "日": "日", "Space": " ", "Enter": "\r", "Tab": "\t", "Esc": "\x1b", "Shift+Tab": "\x1b[Z",
		"Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D", "Ctrl+Left": "\x1b[1;5D", "Alt+Shift+Up": "\x1b[1;4A",
		"Home": "\x1b[1~", "End": "\x1b[4~", "Ctrl+Home": "\x1b[1;5H", "Shift+End": "\x1b[1;2F", "PgUp": "\x1b[5~", "Shift+PgDn": "\x1b[6;2~",
		"Insert": "\x1b[2~", "Delete": "\x1b[3~", "Ctrl+Delete": "\x1b[3;5~",
		"F1": "\x1bOP", "F4": "\x1bOS", "Shift+F1": "\x1b[1;2P", "F5": "\x1b[15~", "F12": "\x1b[24~", "Ctrl+F12": "\x1b[24;5~",
		"Ctrl+C": "\x03", "Ctrl+Space": "\x00", "Ctrl+\\": "\x1c", "Ctrl+_": "\x1f", "Alt+x": "\x1bx", "Ctrl+Alt+A": "\x1b\x01", "Alt+Enter": "\x1b\r",
	} {
		k, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Bytes(k.Event(), false)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct {
		ev   *tcell.EventKey
		app  bool
		want string
	}{
		{tcell.NewEventKey(tcell.KeyBackspace2, 0, 0), false, "\x7f"},
		{tcell.NewEventKey(tcell.KeyBackspace, 0, 0), false, "\x7f"},
		{tcell.NewEventKey(tcell.KeyBackspace2, 0, tcell.ModAlt), false, "\x1b\x7f"},
		{tcell.NewEventKey(tcell.KeyUp, 0, 0), true, "\x1bOA"},
		{tcell.NewEventKey(tcell.KeyUp, 0, tcell.ModCtrl), true, "\x1b[1;5A"},
		{tcell.NewEventKey(tcell.KeyRune, 'X', tcell.ModAlt), false, "\x1bX"},
		{tcell.NewEventKey(tcell.KeyRune, ']', tcell.ModCtrl), false, "\x1d"},
		{tcell.NewEventKey(tcell.KeyRune, '1', tcell.ModCtrl), false, "1"},
		{tcell.NewEventKey(tcell.KeyF40, 0, 0), false, ""},
	} {
		if got := string(Bytes(c.ev, c.app)); got != c.want {
			t.Errorf("%s: %q, want %q", c.ev.Name(), got, c.want)
		}
	}
}
