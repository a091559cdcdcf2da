package draw

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
)

// WheelRows is the number of rows that one step of the mouse wheel scrolls.
const WheelRows = 3

// scroller can be scrolled by the mouse wheel.
type scroller interface {
	tview.Primitive
	InRect(x, y int) bool
	Scroll(rows int)
}

// paged moves about in something that is longer than the screen.
type paged interface {
	Page(screens int)
	Top()
	Bottom()
}

// Page carries out the actions that all paged things have in common.
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

// Wheel scrolls a view with the mouse, or focuses it, and reports whether it did.
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

// Viewport holds which part of some rows shows. Actions may move it anywhere; show keeps
// it between the first and the last row.
type Viewport struct {
	Top   int
	shown int // rows that there was room for
}

// Move carries out an action that scrolls.
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

// Show returns which of n rows show where there is room for some of them.
func (w *Viewport) Show(n, room int) (from, to int) {
	w.shown = room
	w.Top = max(0, min(w.Top, n-room))
	return w.Top, min(n, w.Top+room)
}
