package app

import (
	"context"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/keymap"
	"buddy/app/screen"
	"buddy/themes"
)

// testScreen is the full screen on a terminal in memory, without a program behind it.
type testScreen struct {
	*apptest.UI
	ui    *ui
	keys  *keymap.Map
	later func(func()) // runs it on the UI goroutine
}

// openScreen starts a screen with the colours that the flags mean. Call it in a synctest
// bubble.
func openScreen(t *testing.T, cols, rows int, f *flags) *testScreen {
	t.Helper()
	theme, err := themes.Load("", "dark")
	if err != nil {
		t.Fatal(err)
	}
	x := &testScreen{keys: keymap.Default()}
	events := make(chan event.Envelope, 2)
	for i, p := range []event.Event{event.SessionCreated{Cwd: "/home/ann/shop", Target: "local", Model: "demo"}, event.ModeChanged{Mode: action.ModeAsk}} {
		events <- event.Envelope{Seq: uint64(i + 1), Time: time.Now().UnixMilli(), Session: "7f3a-0000", Task: 1, Payload: p}
	}
	x.UI = apptest.Start(t, cols, rows, func(ctx context.Context, s *screen.Screen) error {
		x.ui = newUI(deps{
			looks:    looks{theme: theme, colours: coloursOf(f)},
			terminal: terminal{repaint: s.Sync, askBackground: s.AskBackground},
			timing:   timing{now: time.Now, tick: func(bool) {}, later: func(f func()) { x.later(f) }, background: func(func() func()) {}},
			drafting: drafting{draft: func() {}},
			send:     func(event.Command) {}, keys: x.keys, home: "/home/ann",
		})
		l := x.ui.loop(s, events, func() {})
		x.later = func(f func()) { l.Post(f) }
		l.SetFocus(x.ui)
		return l.Run(ctx)
	})
	return x
}

// theme is the name of the one in use.
func (x *testScreen) theme() string {
	t, _ := x.ui.themeNow()
	return t.Name
}
