package ui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/views/panes"
)

// arrangement holds how the user has arranged the screen, and the layout of the last frame. A hidden pane is neither
// focus nor tab.
type arrangement struct {
	focus   layout.Pane // among the panes; overlays take keys first
	tab     layout.Pane // the pane last focused other than the prompt
	zoom    bool
	column  bool // there is something to show next to the conversation
	shape   Shape
	rules   bool   // around the prompt
	dragged border // with the mouse
	lay     placed

	panes *panes.Panes // that learn whether they have the focus
	keep  func(Shape)  // called after the panes are rearranged
}

func (a *arrangement) setFocus(p layout.Pane) {
	if a.focus = p; p != layout.Live {
		a.panes.EndTyping()
	}
	a.panes.SetHeld(p == layout.Live)
	if p != layout.Prompt {
		a.tab = p
	}
}

// open shows the column if a command has run for a while (lasts) or there are new tasks (tasks), and hides it if it is
// empty. A column with the focus is not hidden.
func (a *arrangement) open(in *layout.Input, lasts, tasks bool) {
	in.Column = true
	steps := in.Tasks > 0 && !in.Narrow() // the status line shows them where there is no column
	switch {
	case lasts, tasks, a.focus >= layout.Live:
		a.column = true
	case in.Live == 0 && !steps:
		a.column = false
		if a.tab >= layout.Live {
			a.tab, a.zoom = layout.Conversation, false
		}
	}
	in.Column, in.Tab, in.Zoom = a.column, a.tab, a.zoom
}

func (a *arrangement) toggleZoom() { a.zoom = !a.zoom }

// typing reports whether keys go to a terminal pane when no overlay takes them.
func (a *arrangement) typing() bool {
	return a.focus == layout.Live && a.panes.Scope() == keymap.Typing
}

// cycle moves the focus to the next or previous pane that has something to show. On a narrow screen, which has no
// column, the next pane is the page with the live panes, and after that the prompt.
func (a *arrangement) cycle(act keymap.Action, in layout.Input) {
	if act == keymap.NextPane && in.Narrow() {
		if a.focus >= layout.Live {
			a.setFocus(layout.Prompt)
			a.tab = layout.Conversation
		} else {
			a.setFocus(layout.Live)
		}
		return
	}
	by := 1
	if act == keymap.PreviousPane {
		by = -1
	}
	const n = int(layout.Tasks) + 1
	for p := int(a.focus); ; {
		p = (p + by + n) % n
		if pane := layout.Pane(p); exists(pane, in, a.panes.Len()) {
			a.setFocus(pane)
			return
		}
	}
}

// exists reports whether a pane has something to show. panes is the number of terminal panes.
func exists(p layout.Pane, in layout.Input, panes int) bool {
	return [...]bool{true, true, panes > 0, in.Column && in.Tasks > 0}[p] // in the order of the pane constants
}

// arrange changes the sizes of the panes by a key's action, and returns the message to show.
func (a *arrangement) arrange(act keymap.Action) (message string) {
	s, in := &a.shape, a.lay.in
	switch act {
	case keymap.Narrower:
		s.Side, s.Wide = share(in.SideShare()+shareStep), false
	case keymap.Wider:
		s.Side, s.Wide = share(in.SideShare()-shareStep), false
	case keymap.Shorter, keymap.Taller:
		if a.lay.LiveShare() == 0 {
			return "the height can't be changed: nothing is shown below the live pane"
		}
		by := shareStep
		if act == keymap.Shorter {
			by = -shareStep
		}
		s.Live = share(a.lay.LiveShare() + by)
	case keymap.ToggleColumn:
		message = a.toggleColumn(in)
	default:
		return ""
	}
	a.keep(*s)
	return message
}

// toggleColumn switches the column from shown to wide to hidden and back. A hidden column loses the focus.
func (a *arrangement) toggleColumn(in layout.Input) (message string) {
	widens := !a.shape.Hidden && in.Widens()
	a.shape.Hidden, a.shape.Wide = !a.shape.Hidden && !widens, widens
	if a.shape.Hidden && a.focus >= layout.Live {
		a.setFocus(layout.Prompt)
	}
	if a.tab >= layout.Live && a.focus < layout.Live {
		a.tab, a.zoom = layout.Conversation, false
	}
	switch {
	case in.Column && !in.Roomy():
		return "The screen is too narrow for the right column"
	case a.shape.Hidden && in.Column:
		return "The right column is hidden"
	case a.shape.Hidden:
		return "The right column will stay hidden"
	case !in.Column && widens:
		return "The right column will be wide when something is running"
	case !in.Column:
		return "The right column will appear when something is running"
	}
	return ""
}

// drag moves a border with the mouse, and reports whether it has handled the mouse action.
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
		w := max(a.lay.in.W, 1)
		a.shape.Side, a.shape.Wide = share(((w-x)*100+w/2)/w), false
	case action == tview.MouseMove:
		live, tasks := a.lay.Panes[layout.Live], a.lay.Panes[layout.Tasks]
		rows := max(live.H+tasks.H-3, 1) // without borders
		a.shape.Live = share(((y-live.Y-1)*100 + rows/2) / rows)
	}
	return true
}

// border names a border that can be dragged.
type border uint8

const (
	noBorder   border = iota
	sideBorder        // between the conversation and the column
	liveBorder        // between Live and Tasks
)

func (a *arrangement) borderAt(x, y int) border {
	live, tasks := a.lay.Panes[layout.Live], a.lay.Panes[layout.Tasks]
	if a.lay.Panes[layout.Conversation].Empty() {
		return noBorder
	}
	for _, r := range [2]layout.Rect{live, tasks} {
		if !r.Empty() && x == r.X && y > r.Y && y < r.Y+r.H-1 {
			return sideBorder
		}
	}
	if !live.Empty() && !tasks.Empty() && y == tasks.Y && x > tasks.X && x < tasks.X+tasks.W-1 {
		return liveBorder
	}
	return noBorder
}
