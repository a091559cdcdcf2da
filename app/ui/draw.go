package ui

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/layout"
)

// input is what the layout depends on.
func (u *UI) input(w, h int) layout.Input {
	in := layout.Input{
		W: w, H: h, Tab: u.tab, Zoom: u.zoom, Left: u.shape.Left, Upper: u.shape.Upper,
		Output: u.state.Focused != nil && !u.shape.hides(layout.Output),
		Panes:  u.v.panes.Len() > 0 && !u.shape.hides(layout.Panes),
		Prompt: u.v.prompt.Height(w-4, max(1, h/3)),
	}
	if !u.shape.hides(layout.Tasks) {
		in.Tasks = u.v.tasks.Rows()
	}
	if u.dockShows() {
		in.Dock, in.DockFull = u.dockedView().Rows(w), u.dock.full
	}
	if o, ok := u.overlay().(boxed); ok {
		in.Dialog.W, in.Dialog.H = o.Size(roomFor(w, h))
	}
	if p := u.v.prompt.Popup(); p.Open() {
		in.Popup.W, in.Popup.H = p.Size()
	}
	return in
}

// roomFor is how many cells a dialog may have: on a small screen, it covers all but the header.
func roomFor(w, h int) (maxW, maxH int) {
	maxW, maxH = w-2, h-4
	if w < 60 {
		maxW = w
	}
	if h < 16 {
		maxH = h - 1
	}
	return maxW, maxH
}

// placed is the layout of the frame, with its joints, which are found anew only when what
// has a border is elsewhere: at most frames nothing moves.
type placed struct {
	layout.Layout
	joints []layout.Joint
}

func (p *placed) set(in layout.Input) {
	before := p.Panes
	footer, dock := p.Footer, p.Dock
	p.Layout = layout.Of(in)
	if p.Panes != before || p.Footer != footer || p.Dock != dock {
		p.joints = p.Joints()
	}
}

// Draw places the views and draws them.
func (u *UI) Draw(s tcell.Screen) {
	w, h := s.Size()
	u.SetRect(0, 0, w, h)
	u.lay.set(u.input(w, h))
	u.passFocus()
	s.HideCursor()
	u.v.panes.SetZoomed(u.zoom)
	u.v.header.SetApprovalLeft(u.dock.request != "" && !u.dockShows())
	drawIn(s, u.v.header, u.lay.Header)
	drawIn(s, u.v.border, u.lay.Panes[layout.Prompt])
	for p := layout.Conversation; p <= layout.Tasks; p++ {
		drawIn(s, u.view(p), u.lay.Panes[p])
	}
	u.watch()
	u.v.status.SetStops(u.stops())
	drawIn(s, u.v.status, u.lay.Status)
	drawIn(s, u.v.prompt, u.lay.Input)
	scope, _ := u.target()
	u.v.footer.SetScope(scope, u.covered())
	drawIn(s, u.v.footer, u.lay.Footer)
	u.drawTabs(s)
	if v := u.dockedView(); !u.lay.Dock.Empty() {
		drawIn(s, v, u.lay.Dock)
	}
	u.v.border.DrawFocus(s)
	u.drawJoints(s)
	u.v.border.SetMode(u.promptMode())
	u.v.border.DrawMode(s)
	if p := u.v.prompt.Popup(); p.Open() {
		drawIn(s, p, u.lay.Popup)
	}
	u.drawOverlay(s, w)
}

// stops returns the keys that stop the main task from the prompt, "" from elsewhere.
func (u *UI) stops() string {
	name := u.keyName(keymap.Back)
	switch scope, view := u.target(); {
	case view != u.v.prompt || name == "":
		return ""
	case scope == keymap.Prompt && u.v.prompt.Mode() != "" || scope == keymap.Popup:
		return name + " " + name
	case scope == keymap.Search:
		return ""
	}
	return name
}

// promptMode is what stands on the border of the prompt.
func (u *UI) promptMode() string {
	if u.dock.answers != "" && !u.v.prompt.Empty() {
		return "answer"
	}
	return u.v.prompt.Mode()
}

// drawAbovePrompt draws an overlay above the prompt, with which it shares an edge as panes do: the
// joints of the panes that it covers would lead nowhere.
func (u *UI) drawAbovePrompt(s tcell.Screen, v tview.Primitive, w int) {
	edge := u.lay.Panes[layout.Prompt].Y
	u.lay.Dialog = layout.Rect{Y: 1, W: w, H: max(edge-1, 0)}
	if u.lay.Footer.Empty() || edge < 2 { // no frame around the prompt, or no room above it
		drawIn(s, v, u.lay.Dialog)
		return
	}
	u.lay.Dialog.H++
	drawIn(s, v, u.lay.Dialog)
	u.v.border.Join(s, 0, edge, '├')
	u.v.border.Join(s, w-1, edge, '┤')
	u.v.border.DrawMode(s)
}

func drawIn(s tcell.Screen, p tview.Primitive, r layout.Rect) {
	if r.Empty() {
		return
	}
	p.SetRect(r.XYWH())
	p.Draw(s)
}

// passFocus tells the views which of them has the focus.
func (u *UI) passFocus() {
	_, target := u.target()
	if u.v.border.Blur(); target == u.v.prompt {
		u.v.border.Focus(func(tview.Primitive) {})
	}
	u.eachView(func(v tview.Primitive) {
		if v == target {
			v.Focus(func(tview.Primitive) {})
		} else {
			v.Blur()
		}
	})
}

// drawJoints draws the cells where borders meet, which no pane knows of.
func (u *UI) drawJoints(s tcell.Screen) {
	for _, j := range u.lay.joints {
		if text, _, _ := s.Get(j.X, j.Y); !strings.Contains("─│┌┐└┘", text) {
			continue // a title stands there
		}
		u.v.border.Join(s, j.X, j.Y, j.Rune)
	}
}

func (u *UI) drawTabs(s tcell.Screen) {
	active := 0
	var names []string
	for i, p := range u.lay.Tabs {
		names = append(names, p.String())
		if p == u.tab {
			active = i
		}
	}
	u.v.tabs.SetTabs(names, active)
	drawIn(s, u.v.tabs, u.lay.TabBar)
}
