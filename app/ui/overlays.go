package ui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/themes"
	"buddy/views/dialog"
)

// overlayView is a view over the panes: a dialog, a list or a pager. The top one takes all keys and the mouse.
type overlayView interface {
	keyView
	SetTheme(*themes.Theme)
}

// boxed is implemented by overlays that are shown as a box of their own size in the middle of the screen. Other
// overlays fill the space above the prompt.
type boxed interface {
	Size(maxW, maxH int) (w, h int)
}

// overlay is one level of the stack.
type overlay struct {
	open func() bool
	view func() overlayView // of an open level; may return nil
	// pastes reports whether the open view takes pasted text. If not, the next open level below may. nil means that it
	// always does.
	pastes func() bool
}

// overlays holds the stack of overlays, and which of them are open, as far as their views don't know it themselves.
type overlays struct {
	stack   []overlay        // the top level first
	views   []overlayView    // kept as long as the UI
	dock    *dock            // a level while it has the keys
	deps    *Deps            // for the lists
	help    bool             // whether the help is open
	cheat   bool             // whether the cheat sheet shows, below all overlays; the next key closes it
	pickers []*dialog.Picker // the last one shows
	sheet   overlayView      // the changes or the findings, above the pickers; nil while closed
	palette func()           // opens the list of commands
	shown   []*shownList     // the pickers that a command answered with
}

// stackUp sets the stack, the top level first. The order is defined only here.
func (l *overlays) stackUp(v *viewSet) {
	d := l.dock
	is := func(v overlayView) func() overlayView { return func() overlayView { return v } }
	never := func() bool { return false }
	l.stack = []overlay{
		{open: v.secret.Asking, view: is(v.secret)},
		{open: func() bool { return l.help }, view: is(v.help), pastes: never},
		{open: d.hasKeys, view: func() overlayView { return d.view() }, pastes: d.approval.Typing},
		{open: l.listOpen, view: l.list},
		{open: v.ask.Open, view: is(v.ask)},
		{open: v.pager.Open, view: is(v.pager), pastes: func() bool { return v.pager.Scope() == keymap.Finding }},
	}
	l.views = []overlayView{v.secret, v.help, d.confirm, d.approval, d.question, v.ask, v.pager}
}

// top returns the overlay that takes keys and the mouse, nil for none.
func (l *overlays) top() overlayView {
	for _, o := range l.stack {
		if o.open() {
			return o.view()
		}
	}
	return nil
}

// covered reports whether an overlay takes keys and the mouse.
func (l *overlays) covered() bool { return l.top() != nil }

// docked returns the docked dialog unless an overlay covers it, else nil.
func (l *overlays) docked() dockedView {
	v := l.dock.view()
	if v == nil || l.top() != nil && l.top() != overlayView(v) {
		return nil
	}
	return v
}

// under returns the overlay that a mouse event is for, nil if it is for a pane. A docked dialog leaves the panes above
// it to the mouse; other overlays cover everything.
func (l *overlays) under(ev *tcell.EventMouse, dock layout.Rect) tview.Primitive {
	v := l.docked()
	switch {
	case v != nil && (v.Dragging() || dock.Holds(ev.Position())):
		return v
	case v == nil && l.covered():
		return l.top()
	}
	return nil
}

// copySelection copies the text that is selected in the docked dialog or the top overlay, and reports whether there was
// any.
func (l *overlays) copySelection() bool {
	if v := l.docked(); v != nil && v.CopySelection() {
		return true
	}
	v, ok := l.top().(interface{ CopySelection() bool })
	return ok && v.CopySelection()
}

// pasteInto returns the overlay that takes pasted text, nil for none.
func (l *overlays) pasteInto() overlayView {
	for _, o := range l.stack {
		if o.open() && (o.pastes == nil || o.pastes()) {
			return o.view()
		}
	}
	return nil
}

// listOpen reports whether a list or a sheet is open.
func (l *overlays) listOpen() bool { return len(l.pickers) > 0 || l.sheet != nil }

// list returns the top list or sheet, nil if none is open.
func (l *overlays) list() overlayView {
	switch n := len(l.pickers); {
	case l.sheet != nil:
		return l.sheet
	case n > 0:
		return l.pickers[n-1]
	}
	return nil
}

// SetTheme changes the colours of the lists that are open.
func (l *overlays) SetTheme(t *themes.Theme) {
	for _, p := range l.pickers {
		p.SetTheme(t)
	}
	if l.sheet != nil {
		l.sheet.SetTheme(t)
	}
}

// closeLists closes the lists, the top one first, and the sheet.
func (l *overlays) closeLists() {
	for len(l.pickers) > 0 {
		l.pickers[len(l.pickers)-1].Close()
	}
	if b, ok := l.sheet.(*board); ok {
		b.leave()
	}
	l.sheet = nil
}

// pick opens a list on top of the open lists.
func (l *overlays) pick(o dialog.PickerOptions) *dialog.Picker {
	closed := o.OnClose
	o.OnClose = func() {
		l.unpick()
		if closed != nil {
			closed()
		}
	}
	p := dialog.NewPicker(l.deps.Theme, l.deps.Keys, o)
	l.pickers = append(l.pickers, p)
	return p
}

// unpick closes the list that was opened last.
func (l *overlays) unpick() {
	if n := len(l.pickers); n > 0 {
		l.pickers = l.pickers[:n-1]
	}
}

// closeSheet closes the open sheet.
func (l *overlays) closeSheet() { l.sheet = nil }

// toggle closes the lists that the user has opened over the panes. If none is open, it calls open. It also closes the
// help. While a request has the keys, it only shows a hint.
func (u *UI) toggle(open func()) {
	if u.v.secret.Asking() {
		return
	}
	if u.dock.hasKeys() {
		u.hint("", "answer first, or press "+u.deps.Keys.Name(keymap.Back)+" to go back to the prompt")
		return
	}
	u.overlays.help = false
	if u.overlays.listOpen() {
		u.overlays.closeLists()
		return
	}
	open()
}
