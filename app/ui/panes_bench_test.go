package ui

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/layout"
)

// BenchmarkPanesFrame draws one frame with 16 panes side by side that each print ten times a second: 33 ms bring five
// updates. 30 frames a second and BenchmarkWatch of package tmux together may use 6 % of a core.
func BenchmarkPanesFrame(b *testing.B) {
	f := newFrames(b)
	f.apply(event.SessionCreated{Cwd: "/home/ann/shop", Target: "local", Model: "m"})
	for i := range 16 {
		f.apply(event.PaneOpened{Pane: fmt.Sprint("%", i), Title: "shared", Target: fmt.Sprint("web-", i)})
	}
	f.u.arranged.setFocus(layout.Live)
	f.u.arranged.toggleZoom()
	lines := 0
	picture := func(pane int) event.Event {
		lines++
		return event.PaneScreen{Pane: fmt.Sprint("%", pane), W: 120, H: 40, Rows: paneRows(lines), Cursor: event.Cursor{Y: 39}}
	}
	frame := func(n int) {
		var batch []event.Event
		for i := range 5 {
			batch = append(batch, picture((5*n+i)%16))
		}
		f.apply(batch...)
		f.draw()
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
	if n := strings.Count(fmt.Sprint(f.u.v.panes.Visible()), "%"); n < 9 {
		b.Errorf("%d panes show", n)
	}
}
