package fullscreen

import (
	"context"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/compose"
	"buddy/app/keymap"
	"buddy/app/screen"
	"buddy/app/ui"
	"buddy/themes"
	"buddy/views"
)

// testScreen is the full screen on a terminal in memory, without a session.
type testScreen struct {
	*apptest.UI
	ui     *ui.UI
	screen *screen.Screen
	keys   *keymap.Map
	later  func(func()) // runs it on the UI goroutine
}

// openScreen starts a screen with the colours of the flags. Call it in a synctest bubble.
func openScreen(t *testing.T, cols, rows int, f *compose.Options) *testScreen {
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
		x.screen = s
		x.ui = ui.New(ui.Deps{
			Looks:    ui.Looks{Theme: theme, Colours: Colours(f), Header: views.Shown{Tokens: true}},
			Terminal: ui.Terminal{Repaint: s.Sync, AskBackground: s.AskBackground},
			Timing:   ui.Timing{Now: time.Now, Tick: func(bool) {}, Later: func(f func()) { x.later(f) }, Background: func(func() func()) {}},
			Drafting: ui.Drafting{Draft: func() {}},
			Send:     func(event.Command) {}, Keys: x.keys, Home: "/home/ann",
		})
		l := x.ui.Loop(s, events, func() {})
		x.later = func(f func()) { l.Post(f) }
		l.SetFocus(x.ui)
		return l.Run(ctx)
	})
	return x
}

// theme returns the name of the theme in use.
func (x *testScreen) theme() string {
	t, _ := x.ui.Theme()
	return t.Name
}
