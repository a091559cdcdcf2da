package ui

import (
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/layout"
)

// Keys and the mouse arrange the column; the arrangement is kept.
func TestArrange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.feed(event.ToolStarted{CallID: "c1"}, event.ToolOutput{CallID: "c1", Text: "out"})
		x.feed(twoPanes...)
		x.Settle()
		width := func(p layout.Pane) int { x.Settle(); lay, _ := x.arranged(); return lay.Panes[p].W }
		border := func() int { x.Settle(); lay, _ := x.arranged(); return lay.Panes[layout.Tasks].Y }
		side := width(layout.Live)
		x.Press("Alt+Left", "Alt+Left")
		if got := width(layout.Live); got <= side || x.shape.Side != layout.DefaultSide+2*shareStep {
			t.Errorf("width %d after two keys, was %d; kept %+v", got, side, x.shape)
		}
		x.Mouse(apptest.MousePress, x.column(), 8)
		x.Mouse(apptest.MouseDrag, 60, 9)
		x.Mouse(apptest.MouseRelease, 60, 9)
		if got := width(layout.Live); got != 60 || x.shape.Side != 50 {
			t.Errorf("width %d after a drag to column 60; kept %+v", got, x.shape)
		}
		upper := border()
		x.Press("Alt+Shift+Up")
		if got := border(); got >= upper || x.shape.Live == 0 {
			t.Errorf("tasks from row %d on, were from %d; kept %+v", got, upper, x.shape)
		}
		x.Mouse(apptest.MousePress, 100, border())
		x.Mouse(apptest.MouseDrag, 100, 8)
		x.Mouse(apptest.MouseRelease, 100, 8)
		if got := border(); got < 7 || got > 9 {
			t.Errorf("tasks from row %d on after a drag to row 8; kept %+v", got, x.shape)
		}
		x.inside(func() { x.u.arranged.setFocus(layout.Live) })
		x.Press("F3")
		if got := width(layout.Live); got < layout.SideBySide || !x.shape.Wide {
			t.Errorf("width %d after F3; kept %+v", got, x.shape)
		}
		x.Press("F3")
		x.Want("The right column is hidden", "server")
		x.unwanted("┌─", "├─ tasks")
		if !x.shape.Hidden || x.focus() != layout.Prompt || width(layout.Conversation) != 120 {
			t.Errorf("kept %+v; the focus is on %v", x.shape, x.focus())
		}
		x.Press("F3")
		x.Want("┌─", "├─ tasks")
		if got := width(layout.Live); got != 60 || x.shape.Wide || x.shape.Hidden {
			t.Errorf("width %d when it shows again; kept %+v", got, x.shape)
		}
		x.Press("F3", "Alt+Right") // starts from the current width, which is no longer that of a wide column
		if got := width(layout.Live); got < 70 || got > 79 || x.shape.Wide {
			t.Errorf("width %d of a wide column that a key made narrower; kept %+v", got, x.shape)
		}
		x.Press("F3", "F3", "F3")
		if x.shape.Wide || x.shape.Hidden {
			t.Errorf("kept %+v after a round", x.shape)
		}
	})
}

// z shows any pane full screen.
func TestFullScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.feed(event.ToolStarted{CallID: "c1"}, event.ToolOutput{CallID: "c1", Text: "out"})
		x.feed(twoPanes...)
		width := func(p layout.Pane) int { lay, _ := x.arranged(); return lay.Panes[p].W }
		for _, p := range []layout.Pane{layout.Conversation, layout.Live, layout.Tasks} {
			x.inside(func() { x.u.arranged.setFocus(p) })
			x.Press("z")
			x.Settle()
			if got := width(p); got != 120 {
				t.Errorf("%v is %d columns wide", p, got)
			}
			x.Press("z")
			x.Settle()
			if got := width(p); got == 120 {
				t.Errorf("%v stays", p)
			}
		}
	})
}
