package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/views/dialog"
)

// Whatever is open at once, overlays have one order: the one that has the keys is the one drawn on top, and pastes go
// to the first that accepts text.
func TestOverlaysAreOneStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(append(running, event.ApprovalAsked{ID: "a1", CallID: "c1"})...)
		x.Settle()
		checked := false
		x.u.deps.Later(func() { checkStack(t, x.u); checked = true })
		x.Settle()
		if !checked {
			t.Error("the stack was not looked at")
		}
	})
}

// checkStack opens and closes all overlays of a screen with a pending approval. Call it on the UI goroutine.
func checkStack(t *testing.T, u *UI) {
	var list *dialog.Picker
	levels := []struct {
		name        string
		open, close func()
		scope       keymap.Scope
		pastes      bool
	}{
		{"pager", func() { u.v.pager.Show(dialog.Document{Title: "whole", Text: strings.NewReader("text"), Size: 4}) }, u.v.pager.Close, keymap.Pager, false},
		{"ask", func() { u.v.ask.Show("Limit", "after:", func(string) error { return nil }) }, nil, keymap.Asking, true},
		{"list", func() { list = u.overlays.pick(dialog.PickerOptions{Title: "Models"}) }, func() { list.Close() }, keymap.Picker, true},
		{"approval", func() { u.dock.hold(u.deps.Now()) }, u.dock.leave, keymap.Approval, false},
		{"confirm", func() { u.dock.confirm.Ask(dialog.Question{Title: "Quit?", Scope: keymap.Leaving}) }, u.dock.confirm.Close, keymap.Leaving, false},
		{"help", func() { u.overlays.help = true }, func() { u.overlays.help = false }, keymap.Help, false},
		{"secret", func() { u.v.secret.Ask("Log in", "", func(string) {}) }, nil, keymap.Secret, true},
	}
	if u.overlays.covered() || u.overlays.pasteInto() != nil {
		t.Error("something lies over the panes before anything is open")
	}
	var taking []string // the views that accept a paste, the lowest first
	for _, l := range levels {
		l.open()
		scope, view := u.target()
		if scope != l.scope || view != u.overlays.top() {
			t.Errorf("with %s open keys go to the scope %s, want %s", l.name, scope, l.scope)
		}
		if l.pastes {
			taking = append(taking, fmt.Sprintf("%T", view))
		}
		if into := u.overlays.pasteInto(); into == nil != (len(taking) == 0) || into != nil && !slices.Contains(taking[len(taking)-1:], fmt.Sprintf("%T", into)) {
			t.Errorf("with %s open pastes go to %T, want the last of %v", l.name, into, taking)
		}
		if _, sized := u.overlays.top().(boxed); sized == (u.input(100, 30).Dialog == layout.Size{}) {
			t.Errorf("with %s open the layout has the dialog %+v", l.name, u.input(100, 30).Dialog)
		}
	}
	for i, l := range slices.Backward(levels[:len(levels)-1]) {
		if levels[i+1].close == nil {
			u.key(tcell.NewEventKey(tcell.KeyEsc, 0, 0))
		} else {
			levels[i+1].close()
		}
		if scope, _ := u.target(); scope != l.scope {
			t.Errorf("below %s keys go to the scope %s, want that of %s", levels[i+1].name, scope, l.name)
		}
	}
}
