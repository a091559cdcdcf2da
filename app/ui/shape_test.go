package ui

import (
	"reflect"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/layout"
)

// The panes can be arranged by keys and with the mouse; the arrangement is kept.
func TestArrange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.tell(running...)
		x.tell(event.ToolStarted{CallID: "c1"}, event.ToolOutput{CallID: "c1", Text: "out"})
		x.tell(twoPanes...)
		x.Settle()
		side := x.u.arranged.lay.Panes[layout.Conversation].W
		x.Press("Alt+Left", "Alt+Left")
		x.Settle()
		if got := x.u.arranged.lay.Panes[layout.Conversation].W; got >= side || x.shape.Left != layout.DefaultLeft-2*shareStep {
			t.Errorf("width %d after two keys, was %d; kept %+v", got, side, x.shape)
		}
		left := x.u.arranged.lay.Panes[layout.Conversation]
		x.Mouse(apptest.MousePress, left.X+left.W-1, 8)
		x.Mouse(apptest.MouseDrag, 83, 9)
		x.Mouse(apptest.MouseRelease, 83, 9)
		x.Settle()
		if got := x.u.arranged.lay.Panes[layout.Conversation].W; got < 83 || got > 85 || x.shape.Left != 70 {
			t.Errorf("width %d after a drag to column 83; kept %+v", got, x.shape)
		}
		upper := x.u.arranged.lay.Panes[layout.Panes].Y
		x.Press("Alt+Shift+Down")
		x.Settle()
		if got := x.u.arranged.lay.Panes[layout.Panes].Y; got <= upper || x.shape.Upper != layout.DefaultUpper+shareStep {
			t.Errorf("panes from row %d on, were from %d; kept %+v", got, upper, x.shape)
		}
		x.Mouse(apptest.MousePress, 100, x.u.arranged.lay.Panes[layout.Panes].Y)
		x.Mouse(apptest.MouseDrag, 100, 8)
		x.Mouse(apptest.MouseRelease, 100, 8)
		x.Settle()
		if got := x.u.arranged.lay.Panes[layout.Panes].Y; got < 7 || got > 9 {
			t.Errorf("panes from row %d on after a drag to row 8; kept %+v", got, x.shape)
		}
		x.u.arranged.setFocus(layout.Panes)
		x.Press("Alt+2", "Alt+3")
		x.Want("Tasks is hidden")
		x.unwanted("Panes ·", "┬─ Tasks", "├─ Tasks")
		if want := []string{"Panes", "Tasks"}; !reflect.DeepEqual(x.shape.Hidden, want) || x.u.arranged.focus != layout.Prompt {
			t.Errorf("hidden %v, want %v; the focus is on %v", x.shape.Hidden, want, x.u.arranged.focus)
		}
		x.Press("Alt+2")
		x.Want("Panes ·")
		x.Press("Alt+1")
		x.unwanted("Output ·")
	})
}

// z shows any pane full screen.
func TestFullScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.tell(running...)
		x.tell(event.ToolStarted{CallID: "c1"}, event.ToolOutput{CallID: "c1", Text: "out"})
		x.tell(twoPanes...)
		for _, p := range []layout.Pane{layout.Conversation, layout.Output, layout.Panes, layout.Tasks} {
			x.u.arranged.setFocus(p)
			x.Press("z")
			x.Settle()
			if got := x.u.arranged.lay.Panes[p].W; got != 120 {
				t.Errorf("%v is %d columns wide", p, got)
			}
			x.Press("z")
			x.Settle()
			if got := x.u.arranged.lay.Panes[p].W; got == 120 {
				t.Errorf("%v stays", p)
			}
		}
	})
}
