package ui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/layout"
)

// Shape holds how a person arranged the panes. Whoever runs the screen keeps it for each
// folder.
type Shape struct {
	Left   int      `json:"left,omitempty"`   // percent of the width for the conversation; 0 = as drawn
	Upper  int      `json:"upper,omitempty"`  // percent of the rows of output and panes for the output; 0 = as drawn
	Hidden []string `json:"hidden,omitempty"` // names of panes
}

// The bounds of a shape, in percent, and how far one key goes.
const (
	leastShare = 20
	mostShare  = 80
	shareStep  = 4
)

func share(n int) int { return max(leastShare, min(n, mostShare)) }

// hides reports whether a pane is not shown though there is something in it.
func (s *Shape) hides(p layout.Pane) bool {
	for _, h := range s.Hidden {
		if h == p.String() {
			return true
		}
	}
	return false
}

func (s *Shape) toggle(p layout.Pane) {
	var others []string
	for _, h := range s.Hidden {
		if h != p.String() {
			others = append(others, h)
		}
	}
	if !s.hides(p) {
		others = append(others, p.String())
	}
	s.Hidden = others
}

// Bound brings the shares of a shape that was read within their bounds.
func (s *Shape) Bound() {
	for _, n := range []*int{&s.Left, &s.Upper} {
		if *n != 0 {
			*n = share(*n)
		}
	}
}

// arrange changes the shape by a key.
func (u *UI) arrange(a keymap.Action) {
	s := &u.shape
	left, upper := s.Left, s.Upper
	if left == 0 {
		left = layout.DefaultLeft
	}
	if upper == 0 {
		upper = layout.DefaultUpper
	}
	switch a {
	case keymap.Narrower:
		s.Left = share(left - shareStep)
	case keymap.Wider:
		s.Left = share(left + shareStep)
	case keymap.Shorter:
		s.Upper = share(upper - shareStep)
	case keymap.Taller:
		s.Upper = share(upper + shareStep)
	case keymap.ToggleOutput:
		u.toggleHidden(layout.Output)
	case keymap.TogglePanes:
		u.toggleHidden(layout.Panes)
	case keymap.ToggleTasks:
		u.toggleHidden(layout.Tasks)
	default:
		return
	}
	u.deps.KeepShape(*s)
}

// toggleHidden hides or shows a pane; a hidden one has not the focus.
func (u *UI) toggleHidden(p layout.Pane) {
	u.shape.toggle(p)
	if !u.shape.hides(p) {
		u.hint("", p.String()+" shows again when there is something in it")
		return
	}
	u.hint("", p.String()+" is hidden")
	if u.focus == p {
		u.setFocus(layout.Prompt)
	}
	if u.tab == p {
		u.tab, u.zoom = layout.Conversation, false
	}
}

// drag moves a border with the mouse, and reports whether the action was about that.
func (u *UI) drag(action tview.MouseAction, ev *tcell.EventMouse) bool {
	x, y := ev.Position()
	switch {
	case action == tview.MouseLeftDown:
		u.dragged = u.borderAt(x, y)
		return u.dragged != noBorder
	case u.dragged == noBorder:
		return false
	case action == tview.MouseLeftUp:
		u.dragged = noBorder
		u.deps.KeepShape(u.shape)
	case action == tview.MouseMove && u.dragged == sideBorder:
		_, _, w, _ := u.GetRect()
		u.shape.Left = share(((x+1)*100 + w/2) / max(w, 1))
	case action == tview.MouseMove:
		out, panes := u.lay.Panes[layout.Output], u.lay.Panes[layout.Panes]
		rows := out.H + panes.H - 2
		u.shape.Upper = share(((y-out.Y)*100 + rows/2) / max(rows, 1))
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

func (u *UI) borderAt(x, y int) border {
	left, out, panes := u.lay.Panes[layout.Conversation], u.lay.Panes[layout.Output], u.lay.Panes[layout.Panes]
	_, _, w, _ := u.GetRect()
	switch {
	case !left.Empty() && left.W < w && x == left.X+left.W-1 && y > left.Y && y < left.Y+left.H-1:
		return sideBorder
	case !out.Empty() && !panes.Empty() && y == panes.Y && x > panes.X && x < panes.X+panes.W-1:
		return upperBorder
	}
	return noBorder
}
