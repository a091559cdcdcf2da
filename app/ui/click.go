package ui

import (
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
)

// pressed is a key that is named on the screen and that the mouse button is held on.
type pressed struct {
	view  tview.Primitive // that takes the keys
	key   keymap.Key
	asked string // the request that shows
}

// click does what a key means when its name on the screen is clicked, and reports whether
// the action was about that. The button has to go down and up on the same key of the same
// dialog, so that one that opens under the pointer is not answered.
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
		u.dock.typed = time.Time{} // who clicks does not type
		if was.asked != "" && was.asked == u.dock.request {
			u.dock.hold(u.deps.Now())
		}
		u.key(was.key.Event())
		u.dock.endPause()
		return true
	}
	return false
}

// keyAt returns the key that is named at a place: in the dialog, or in the footer, which
// never answers an approval.
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
