package ui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/dialog"
)

// overlayView is a view that lies over the panes: a dialog, a list or a pager. While it is
// the top one, it takes all keys and the mouse.
type overlayView interface {
	tview.Primitive
	Scope() keymap.Scope
	SetTheme(*themes.Theme)
}

// boxed is an overlay in the middle of the screen, of the size that it wants. Others lie
// above the prompt.
type boxed interface {
	Size(maxW, maxH int) (w, h int)
}

// overlay is one level of the stack.
type overlay struct {
	open func() bool
	view func() overlayView // while it is open; nil for none
	// pastes reports whether the view takes what is pasted while it is open; if not, the next
	// open level may. nil is always.
	pastes func() bool
}

// newStack returns the stack, the top level first: where several are open, the first one
// shows. It is the only place that knows the order.
func (u *UI) newStack() []overlay {
	is := func(v overlayView) func() overlayView { return func() overlayView { return v } }
	never := func() bool { return false }
	return []overlay{
		{open: u.v.secret.Asking, view: is(u.v.secret)},
		{open: func() bool { return u.overlays.help }, view: is(u.v.help), pastes: never},
		{open: u.dockHeld, view: func() overlayView { return u.dockedView() }, pastes: u.v.approval.Typing},
		{open: u.overlays.listOpen, view: u.overlays.list},
		{open: u.v.ask.Open, view: is(u.v.ask)},
		{open: u.v.pager.Open, view: is(u.v.pager), pastes: func() bool { return u.v.pager.Scope() == keymap.Finding }},
	}
}

// overlay returns what lies on top of the panes, nil if nothing does.
func (u *UI) overlay() overlayView {
	for _, o := range u.overlays.stack {
		if o.open() {
			return o.view()
		}
	}
	return nil
}

// pasteInto returns the overlay that takes what is pasted, nil if none does.
func (u *UI) pasteInto() overlayView {
	for _, o := range u.overlays.stack {
		if o.open() && (o.pastes == nil || o.pastes()) {
			return o.view()
		}
	}
	return nil
}

// eachView calls f with every view that can have the focus.
func (u *UI) eachView(f func(tview.Primitive)) {
	for _, v := range []tview.Primitive{u.v.prompt, u.v.conversation, u.v.output, u.v.panes, u.v.tasks} {
		f(v)
	}
	for _, v := range []tview.Primitive{u.v.secret, u.v.help, u.v.confirm, u.v.approval, u.v.question, u.v.ask, u.v.pager} {
		f(v)
	}
	if v := u.overlays.list(); v != nil {
		f(v)
	}
}

// drawOverlay draws the top overlay.
func (u *UI) drawOverlay(s tcell.Screen, w int) {
	switch v := u.overlay().(type) {
	case nil, dockedView: // which is drawn with the panes
	case boxed:
		drawIn(s, u.overlay(), u.lay.Dialog)
	default:
		u.drawAbovePrompt(s, v, w)
	}
}

// overlays holds the stack and which of its levels are open, but for what the views know
// themselves.
type overlays struct {
	stack   []overlay        // the top level first
	help    bool             // the help shows
	pickers []*dialog.Picker // the last one shows
	changes *dialog.Changes  // over the pickers; nil while it is closed
	palette func()           // opens the list of commands
}

// listOpen reports whether a list or the changes are open.
func (l *overlays) listOpen() bool { return len(l.pickers) > 0 || l.changes != nil }

// list returns the one of them that shows, nil if none is open.
func (l *overlays) list() overlayView {
	switch n := len(l.pickers); {
	case l.changes != nil:
		return l.changes
	case n > 0:
		return l.pickers[n-1]
	}
	return nil
}

func (l *overlays) setTheme(t *themes.Theme) {
	for _, p := range l.pickers {
		p.SetTheme(t)
	}
	if l.changes != nil {
		l.changes.SetTheme(t)
	}
}

// closeLists closes the lists, the top one first, and the changes.
func (l *overlays) closeLists() {
	for len(l.pickers) > 0 {
		l.pickers[len(l.pickers)-1].Close()
	}
	l.changes = nil
}

// pick opens a list. What it was opened from stays below it.
func (u *UI) pick(o dialog.PickerOptions) *dialog.Picker {
	closed := o.OnClose
	o.OnClose = func() {
		u.unpick()
		if closed != nil {
			closed()
		}
	}
	p := dialog.NewPicker(u.deps.Theme, u.deps.Keys, o)
	u.overlays.pickers = append(u.overlays.pickers, p)
	return p
}

// unpick closes the list that was opened last.
func (u *UI) unpick() {
	if n := len(u.overlays.pickers); n > 0 {
		u.overlays.pickers = u.overlays.pickers[:n-1]
	}
}

// toggle closes what a person opened over the panes, or opens a list if there is nothing.
// The list shows: help goes, and what has to be answered comes first.
func (u *UI) toggle(open func()) {
	if u.v.secret.Asking() || u.answerFirst() {
		return
	}
	u.overlays.help = false
	if u.overlays.listOpen() {
		u.overlays.closeLists()
		return
	}
	open()
}
