package dialog

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/views/viewtest"
)

// TestSecret: typed or pasted text is never drawn, is passed on once, and is forgotten when the dialog closes.
func TestSecret(t *testing.T) {
	s := NewSecret(viewtest.Dark(t), keymap.Default())
	got := []string{}
	ask := func() { s.Ask("Log in to OpenAI", "Paste the key.", func(k string) { got = append(got, k) }) }
	key := func(k tcell.Key, r rune) { viewtest.Key(s, tcell.NewEventKey(k, r, tcell.ModNone)) }
	paste := func(text string) { s.PasteHandler()(text, func(tview.Primitive) {}) }
	paste("ignored while nothing is asked")
	key(tcell.KeyEnter, 0)

	ask()
	paste(" sk-secret\n")
	key(tcell.KeyRune, 'x')
	key(tcell.KeyBackspace2, 0)
	key(tcell.KeyRune, '9')
	viewtest.Golden(t, "secret", s, 72, 5)
	if text := viewtest.Text(t, s, 72, 5); strings.Contains(text, "sk") || strings.Count(text, "•") != 10 {
		t.Errorf("%s", text)
	}
	viewtest.Text(t, s, 3, 2)
	key(tcell.KeyEnter, 0)
	if len(got) != 1 || got[0] != "sk-secret9" || s.Asking() {
		t.Errorf("%q, still asks: %v", got, s.Asking())
	}

	ask()
	paste("another")
	key(tcell.KeyEscape, 0)
	ask()
	key(tcell.KeyEnter, 0)
	if len(got) != 1 || s.Asking() {
		t.Errorf("%q", got)
	}
}
