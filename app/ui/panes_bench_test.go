package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/screen"
	"buddy/themes"
)

// BenchmarkPanesFrame is one frame of the whole screen with 16 panes side by side, of which
// each prints ten times a second: what 33 ms bring, five new pictures. 30 frames a second
// and what BenchmarkWatch of package tmux takes shall be 6 % of a core in all.
func BenchmarkPanesFrame(b *testing.B) {
	b.Setenv("COLORTERM", "truecolor")
	s, err := screen.New(screen.NewTty(&sink{stop: make(chan struct{})}, nil), "xterm-256color")
	if err == nil {
		err = s.Init()
	}
	if err != nil {
		b.Fatal(err)
	}
	defer s.Fini()
	theme, err := themes.Load("", "dark")
	if err != nil {
		b.Fatal(err)
	}
	u := New(Deps{
		Looks: Looks{Theme: theme}, Terminal: Terminal{Attention: Attention{Notify: s.Notify}},
		Timing: Timing{Now: time.Now, Tick: func(bool) {}}, Keys: keymap.Default(), Send: func(event.Command) {},
	})
	seq := uint64(0)
	tell := func(payloads ...event.Event) {
		var batch []event.Envelope
		for _, p := range payloads {
			seq++
			batch = append(batch, event.Envelope{Seq: seq, Time: time.Now().UnixMilli(), Payload: p})
		}
		u.apply(batch)
	}
	tell(event.SessionCreated{Cwd: "/home/ann/shop", Target: "local", Model: "m"})
	for i := range 16 {
		tell(event.PaneOpened{Pane: fmt.Sprint("%", i), Title: "shared", Target: fmt.Sprint("web-", i)})
	}
	u.setFocus(layout.Panes)
	u.toggleZoom()
	lines := 0
	picture := func(pane int) event.Event {
		rows := make([]string, 40)
		for i := range rows {
			rows[i] = fmt.Sprintf("2026/11/20 \x1b[3%dm[info]\x1b[39m request %d took %d ms", (lines+i)%8, lines+i, i)
		}
		lines++
		return event.PaneScreen{Pane: fmt.Sprint("%", pane), W: 120, H: 40, Rows: rows, Cursor: event.Cursor{Y: 39}}
	}
	frame := func(n int) {
		var batch []event.Event
		for i := range 5 {
			batch = append(batch, picture((5*n+i)%16))
		}
		tell(batch...)
		s.Clear()
		u.Draw(s)
		s.Show()
	}
	for n := range 16 {
		frame(n)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		frame(n)
		n++
	}
	if n := strings.Count(fmt.Sprint(u.v.panes.Visible()), "%"); n < 9 {
		b.Errorf("%d panes show", n)
	}
}
