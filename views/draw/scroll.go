package draw

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
)

// WheelRows is the number of rows that a step of the mouse wheel scrolls.
const WheelRows = 3

// scroller is a view that the mouse wheel scrolls.
type scroller interface {
	tview.Primitive
	InRect(x, y int) bool
	Scroll(rows int)
}

// paged is a view that is longer than the screen.
type paged interface {
	Page(screens int)
	Top()
	Bottom()
}

// Page executes the scrolling actions of all paged views.
func Page(v paged, a keymap.Action) {
	switch a {
	case keymap.PageUp:
		v.Page(-1)
	case keymap.PageDown:
		v.Page(1)
	case keymap.ScrollTop:
		v.Top()
	case keymap.ScrollBottom:
		v.Bottom()
	}
}

// Wheel handles a mouse action that scrolls or focuses a view, and reports whether the action was one.
func Wheel(v scroller, action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) bool {
	if !v.InRect(ev.Position()) {
		return false
	}
	switch action {
	case tview.MouseScrollUp:
		v.Scroll(-WheelRows)
	case tview.MouseScrollDown:
		v.Scroll(WheelRows)
	case tview.MouseLeftDown:
		setFocus(v)
	default:
		return false
	}
	return true
}

// Viewport is the visible part of some rows. Actions may move it anywhere; Show limits it to the rows.
type Viewport struct {
	Top   int
	shown int // visible rows at the last Show
}

// Move executes a scrolling action.
func (w *Viewport) Move(a keymap.Action) {
	switch a {
	case keymap.ScrollUp:
		w.Top--
	case keymap.ScrollDown:
		w.Top++
	case keymap.PageUp:
		w.Top -= w.shown
	case keymap.PageDown:
		w.Top += w.shown
	case keymap.ScrollTop:
		w.Top = 0
	case keymap.ScrollBottom:
		w.Top = 1 << 30
	}
}

// Show returns the visible range of n rows if room rows fit.
func (w *Viewport) Show(n, room int) (from, to int) {
	w.shown = room
	w.Top = max(0, min(w.Top, n-room))
	return w.Top, min(n, w.Top+room)
}
