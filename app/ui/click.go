package ui

import (
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
)

// pressed describes the key whose name is at the position where the mouse button was pressed.
type pressed struct {
	view  tview.Primitive // the view that takes the key
	key   keymap.Key
	asked string // the id of the request that was shown
}

// click handles a click on the name of a key as if the key was pressed, and reports whether it has handled the mouse
// action. The button must be pressed and released on the same key of the same dialog, so that a click never answers a
// dialog that has just opened under the pointer.
func (u *UI) click(action tview.MouseAction, ev *tcell.EventMouse) bool {
	switch action {
	case tview.MouseLeftDown:
		u.pressed = u.keyAt(ev.Position())
		return u.pressed != pressed{}
	case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
		was := u.pressed
		if u.pressed = (pressed{}); was == (pressed{}) || was != u.keyAt(ev.Position()) {
			return false
		}
		u.dock.typed = time.Time{} // a click ends the typing
		if was.asked != "" && was.asked == u.dock.request {
			u.dock.hold(u.deps.Now())
		}
		u.key(was.key.Event())
		u.dock.endPause()
		return true
	}
	return false
}

// keyAt returns the key whose name is at a position in the dialog or in the footer. A key in the footer never answers
// an approval.
func (u *UI) keyAt(x, y int) pressed {
	_, view := u.target()
	asked := ""
	docked := u.overlays.docked()
	if docked != nil {
		view = docked
		asked = u.dock.request
	}
	if v, ok := view.(interface {
		KeyAt(x, y int) (keymap.Key, bool)
	}); ok && (u.overlays.covered() || docked != nil) {
		if key, ok := v.KeyAt(x, y); ok {
			return pressed{view, key, asked}
		}
	}
	under := u.overlays.covered() && u.arranged.lay.Dialog.Holds(x, y)
	if key, ok := u.v.footer.KeyAt(x, y); ok && !under {
		return pressed{view, key, ""}
	}
	return pressed{}
}
