package views

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
)

const wheelRows = 3

// scroller is a view that scrolls and can follow its end.
type scroller interface {
	tview.Primitive
	InRect(x, y int) bool
	Scroll(rows int)
	Page(screens int)
	Top()
	Bottom()
}

// page carries out the actions that scrollers have in common.
func page(v scroller, a keymap.Action) {
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

// wheel scrolls a view with the mouse, or focuses it, and says whether it did.
func wheel(v scroller, action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) bool {
	if !v.InRect(ev.Position()) {
		return false
	}
	switch action {
	case tview.MouseScrollUp:
		v.Scroll(-wheelRows)
	case tview.MouseScrollDown:
		v.Scroll(wheelRows)
	case tview.MouseLeftDown:
		setFocus(v)
	default:
		return false
	}
	return true
}

// window is the part of some rows that shows. Actions may move it anywhere; show keeps
// it within what there is.
type window struct {
	top   int
	shown int // rows that there was room for
}

// move carries out an action that scrolls.
func (w *window) move(a keymap.Action) {
	switch a {
	case keymap.ScrollUp:
		w.top--
	case keymap.ScrollDown:
		w.top++
	case keymap.PageUp:
		w.top -= w.shown
	case keymap.PageDown:
		w.top += w.shown
	case keymap.ScrollTop:
		w.top = 0
	case keymap.ScrollBottom:
		w.top = 1 << 30
	}
}

// show returns which of n rows show where there is room for some of them.
func (w *window) show(n, room int) (from, to int) {
	w.shown = room
	w.top = max(0, min(w.top, n-room))
	return w.top, min(n, w.top+room)
}
