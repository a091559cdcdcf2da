package ui

import (
	"context"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/app/dashboard"
	"buddy/app/keymap"
	"buddy/app/loop"
	"buddy/app/screen"
)

// DashboardScreen holds what a full-screen dashboard needs.
type DashboardScreen struct {
	Looks
	Keys      *keymap.Map
	Live      LiveSessions // Attach is not used
	Attention Attention
	Copy      func(text string)
	Selected  string // the key of the session to select, "" for the first one
	Message   string // shown until the next key
}

// Dashboard shows the live sessions until the user chooses a session to attach to, leaves, or ctx ends. If the user
// chooses a session, the screen stays open for it; otherwise chosen is nil.
func Dashboard(ctx context.Context, s *screen.Screen, d DashboardScreen) (chosen *dashboard.Session, err error) {
	var l *loop.Loop[struct{}]
	away := false
	d.Live.Attach = func(one dashboard.Session) error {
		chosen = &one
		l.HandOver()
		return nil
	}
	deps := boardDeps{
		Looks: d.Looks, Keys: d.Keys, Copy: d.Copy, Live: d.Live, Own: func(string) bool { return false },
		Call: func(text string) {
			if away {
				d.Attention.Notify(d.Attention.How, "buddy: "+text)
			}
		},
		Timing: Timing{
			Now: time.Now, Later: func(f func()) { l.Post(f) },
			After:      func(wait time.Duration, f func()) { time.AfterFunc(wait, func() { l.Post(f) }) },
			Background: func(work func() func()) { l.Go(func() { l.Post(work()) }) },
		},
	}
	colours := &colouring{Looks: &d.Looks, ask: s.AskBackground}
	b := newBoard(deps, func() { l.Quit() })
	colours.views = []coloured{b}
	l = loop.New(loop.Config[struct{}]{
		Screen: s, Root: b, Events: make(chan struct{}), Apply: func([]struct{}) bool { return false },
		Stop: func() {},
		Key:  func(ev *tcell.EventKey) *tcell.EventKey { boardKey(b, ev, s); return nil },
		On:   screen.Handlers{Focus: func(on bool) { away = !on }, Background: colours.background},
	})
	b.watch()
	if d.Selected != "" {
		b.fresh = time.Time{}
		b.p.Select(d.Selected)
	}
	if d.Message != "" {
		b.p.Say(d.Message)
	}
	l.SetFocus(b)
	if d.Auto {
		l.Post(colours.follow) // after the first frame
	}
	err = l.Run(ctx)
	b.drop("")
	b.closed = true
	b.table.Stop()
	return chosen, err
}

// boardKey handles a key of a full-screen dashboard.
func boardKey(b *board, ev *tcell.EventKey, s *screen.Screen) {
	p := b.d.Keys.Lookup(ev, b.Scope().Chain()...)
	switch {
	case p.Scope != keymap.Global:
		b.Press(p)
	case p.Action == keymap.Redraw:
		s.Sync()
	case p.Action == keymap.Interrupt && b.CopySelection():
	case p.Action == keymap.Interrupt && b.answer.asked != nil:
		b.drop("")
	case p.Action == keymap.Interrupt, p.Action == keymap.Detach, p.Action == keymap.ShowBoard:
		b.leave()
	}
}
