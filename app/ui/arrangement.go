package ui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/views/panes"
)

// arrangement holds what a person chose of the layout, and the layout of the last frame. A pane that
// is hidden has neither the focus nor the tab.
type arrangement struct {
	focus   layout.Pane // of the panes; dialogs over them come first
	tab     layout.Pane // the pane last focused other than the prompt
	zoom    bool
	shape   Shape
	dragged border // with the mouse
	lay     placed

	panes *panes.Panes // that learn whether they have the focus
	keep  func(Shape)  // the panes are arranged anew
}

func (a *arrangement) setFocus(p layout.Pane) {
	if a.focus = p; p != layout.Panes {
		a.panes.EndTyping()
	}
	a.panes.SetHeld(p == layout.Panes)
	if p != layout.Prompt {
		a.tab = p
	}
}

func (a *arrangement) toggleZoom() { a.zoom = !a.zoom }

// typing reports whether keys go to a terminal pane, while no overlay takes them.
func (a *arrangement) typing() bool {
	return a.focus == layout.Panes && a.panes.Scope() == keymap.Typing
}

// cycle moves the focus to the next pane that there is, or to the one before.
func (a *arrangement) cycle(act keymap.Action, in layout.Input) {
	by := 1
	if act == keymap.PreviousPane {
		by = -1
	}
	const n = int(layout.Tasks) + 1
	for p := int(a.focus); ; {
		p = (p + by + n) % n
		if pane := layout.Pane(p); exists(pane, in) {
			a.setFocus(pane)
			return
		}
	}
}

// exists reports whether there is something to see in a pane.
func exists(p layout.Pane, in layout.Input) bool {
	return [...]bool{true, true, in.Output, in.Panes, in.Tasks > 0}[p] // as the panes are numbered
}

// arrange changes the shape by a key, and returns what there is to tell about it.
func (a *arrangement) arrange(act keymap.Action) (told string) {
	s := &a.shape
	left, upper := s.Left, s.Upper
	if left == 0 {
		left = layout.DefaultLeft
	}
	if upper == 0 {
		upper = layout.DefaultUpper
	}
	switch act {
	case keymap.Narrower:
		s.Left = share(left - shareStep)
	case keymap.Wider:
		s.Left = share(left + shareStep)
	case keymap.Shorter:
		s.Upper = share(upper - shareStep)
	case keymap.Taller:
		s.Upper = share(upper + shareStep)
	case keymap.ToggleOutput:
		told = a.toggleHidden(layout.Output)
	case keymap.TogglePanes:
		told = a.toggleHidden(layout.Panes)
	case keymap.ToggleTasks:
		told = a.toggleHidden(layout.Tasks)
	default:
		return ""
	}
	a.keep(*s)
	return told
}

// toggleHidden hides or shows a pane, and returns which. A hidden one has not the focus.
func (a *arrangement) toggleHidden(p layout.Pane) (told string) {
	a.shape.toggle(p)
	if !a.shape.hides(p) {
		return p.String() + " shows again when there is something in it"
	}
	if a.focus == p {
		a.setFocus(layout.Prompt)
	}
	if a.tab == p {
		a.tab, a.zoom = layout.Conversation, false
	}
	return p.String() + " is hidden"
}

// drag moves a border with the mouse, and reports whether the action was about that.
func (a *arrangement) drag(action tview.MouseAction, ev *tcell.EventMouse) bool {
	x, y := ev.Position()
	switch {
	case action == tview.MouseLeftDown:
		a.dragged = a.borderAt(x, y)
		return a.dragged != noBorder
	case a.dragged == noBorder:
		return false
	case action == tview.MouseLeftUp:
		a.dragged = noBorder
		a.keep(a.shape)
	case action == tview.MouseMove && a.dragged == sideBorder:
		a.shape.Left = share(((x+1)*100 + a.lay.w/2) / max(a.lay.w, 1))
	case action == tview.MouseMove:
		out, below := a.lay.Panes[layout.Output], a.lay.Panes[layout.Panes]
		rows := out.H + below.H - 2
		a.shape.Upper = share(((y-out.Y)*100 + rows/2) / max(rows, 1))
	}
	return true
}

// border is one that can be dragged.
type border uint8

const (
	noBorder    border = iota
	sideBorder         // between the conversation and what is at its right
	upperBorder        // between output and panes
)

func (a *arrangement) borderAt(x, y int) border {
	left, out, below := a.lay.Panes[layout.Conversation], a.lay.Panes[layout.Output], a.lay.Panes[layout.Panes]
	switch {
	case !left.Empty() && left.W < a.lay.w && x == left.X+left.W-1 && y > left.Y && y < left.Y+left.H-1:
		return sideBorder
	case !out.Empty() && !below.Empty() && y == below.Y && x > below.X && x < below.X+below.W-1:
		return upperBorder
	}
	return noBorder
}
