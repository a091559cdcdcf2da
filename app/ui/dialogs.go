package ui

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/fuzzy"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/dialog"
)

// over is what a person opened over the panes; help and approvals lie over it.
type over struct {
	pickers []*dialog.Picker // the last one shows
	changes *dialog.Changes  // nil while it is closed
	palette func()           // opens the list of commands
}

// open says whether there is something.
func (o *over) open() bool { return len(o.pickers) > 0 || o.changes != nil }

// top returns what takes the keys.
func (o *over) top() (keymap.Scope, tview.Primitive) {
	if o.changes != nil {
		return keymap.Changes, o.changes
	}
	p := o.pickers[len(o.pickers)-1]
	return p.Scope(), p
}

// size returns the cells that the dialog wants, at most those.
func (o *over) size(w, h int) layout.Size {
	var s layout.Size
	if o.changes != nil {
		s.W, s.H = w, h
	} else {
		s.W, s.H = o.pickers[len(o.pickers)-1].Size(w, h)
	}
	return s
}

func (o *over) draw(s tcell.Screen, r layout.Rect) {
	_, view := o.top()
	drawIn(s, view, r)
}

func (o *over) setTheme(t *themes.Theme) {
	for _, p := range o.pickers {
		p.SetTheme(t)
	}
	if o.changes != nil {
		o.changes.SetTheme(t)
	}
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
	u.over.pickers = append(u.over.pickers, p)
	return p
}

// unpick closes the list that was opened last.
func (u *UI) unpick() {
	if n := len(u.over.pickers); n > 0 {
		u.over.pickers = u.over.pickers[:n-1]
	}
}

// toggle closes what a person opened over the panes, or opens a list if there is nothing.
// The list shows: help goes, and what has to be answered comes first.
func (u *UI) toggle(open func()) {
	if u.v.secret.Asking() || u.v.confirm.Open() || u.answerFirst() {
		return
	}
	u.help = false
	if u.over.open() {
		for len(u.over.pickers) > 0 {
			u.over.pickers[len(u.over.pickers)-1].Close()
		}
		u.over.changes = nil
		return
	}
	open()
}

// nearest suggests the command that was meant by a wrong name, if one is near enough.
func (o *over) nearest(wrong string) string {
	if len(wrong) > 64 { // no typing error, and the distance costs length times length
		return ""
	}
	names := make([]string, 0, len(slashCommands))
	for _, c := range slashCommands {
		names = append(names, c.Name)
	}
	for _, name := range names {
		if strings.HasPrefix(name, wrong) {
			return ", /" + name + "?"
		}
	}
	name := fuzzy.Nearest(wrong, names)
	if texts.Distance(wrong, name) > max(1, len(wrong)/2) {
		return ""
	}
	return ", /" + name + "?"
}
