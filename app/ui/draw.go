package ui

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/views"
	"buddy/views/draw"
	"buddy/views/prompt"
)

// input is what the layout depends on.
func (u *UI) input(w, h int) layout.Input {
	a := &u.arranged
	in := layout.Input{
		W: w, H: h, Tab: a.tab, Zoom: a.zoom, Left: a.shape.Left, Upper: a.shape.Upper,
		Output: u.state.Focused != nil && !a.shape.hides(layout.Output),
		Panes:  u.v.panes.Len() > 0 && !a.shape.hides(layout.Panes),
		Prompt: u.v.prompt.Height(w-4, max(1, h/3)),
	}
	if !a.shape.hides(layout.Tasks) {
		in.Tasks = u.v.tasks.Rows(in.Side())
		if a.focus == layout.Tasks { // it does not go while the person is in it
			in.Tasks = max(in.Tasks, 1)
		}
	}
	if v := u.overlays.docked(); v != nil {
		in.Dock, in.DockFull = v.Rows(w), u.dock.full
	}
	if o, ok := u.overlays.top().(boxed); ok {
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
	w      int // of the screen
}

func (p *placed) set(in layout.Input) {
	before := p.Panes
	footer, dock := p.Footer, p.Dock
	p.Layout, p.w = layout.Of(in), in.W
	if p.Panes != before || p.Footer != footer || p.Dock != dock {
		p.joints = p.Joints()
	}
}

// Draw places the views and draws them.
func (u *UI) Draw(s tcell.Screen) {
	w, h := s.Size()
	u.SetRect(0, 0, w, h)
	lay := &u.arranged.lay
	u.v.tasks.Visit(u.arranged.focus == layout.Tasks)
	lay.set(u.input(w, h))
	_, target := u.target()
	passFocus(target, &u.v, &u.overlays)
	s.HideCursor()
	u.v.panes.SetZoomed(u.arranged.zoom)
	u.v.header.SetApprovalLeft(u.dock.request != "" && u.overlays.docked() == nil)
	drawIn(s, u.v.header, lay.Header)
	drawIn(s, u.v.border, lay.Panes[layout.Prompt])
	for p := layout.Conversation; p <= layout.Tasks; p++ {
		drawIn(s, u.v.pane(p), lay.Panes[p])
	}
	u.watched.update(shownPanes(&u.v, lay), u.deps.Send)
	scope, target := u.target() // drawing may have ended typing in a pane
	u.v.status.SetStops(stops(u.deps.Keys.Name(keymap.Back), scope, target, u.v.prompt))
	u.v.status.SetBare(lay.Panes[layout.Tasks].Empty())
	drawIn(s, u.v.status, lay.Status)
	drawIn(s, u.v.prompt, lay.Input)
	u.v.footer.SetScope(scope, u.overlays.covered())
	drawIn(s, u.v.footer, lay.Footer)
	lay.drawTabs(s, u.v.tabs, u.arranged.tab)
	if v := u.dock.view(); !lay.Dock.Empty() {
		drawIn(s, v, lay.Dock)
	}
	u.v.border.DrawFocus(s)
	lay.drawJoints(s, u.v.border)
	u.v.border.SetMode(borderMode(u))
	u.v.border.DrawMode(s)
	if p := u.v.prompt.Popup(); p.Open() {
		drawIn(s, p, lay.Popup)
	}
	lay.drawOver(s, u.overlays.top(), u.v.border)
}

// stops returns the keys that stop the main task from the prompt, of which the last is named
// name; "" where other views or the search of the history take it.
func stops(name string, scope keymap.Scope, target tview.Primitive, p *prompt.Prompt) string {
	switch {
	case target != p || name == "":
		return ""
	case scope == keymap.Prompt && p.Mode() != "" || scope == keymap.Popup:
		return name + " " + name
	case scope == keymap.Search:
		return ""
	}
	return name
}

// drawOver draws the top overlay, unless that is drawn with the panes.
func (p *placed) drawOver(s tcell.Screen, v overlayView, border *draw.Border) {
	switch v.(type) {
	case nil, dockedView:
	case boxed:
		drawIn(s, v, p.Dialog)
	default:
		p.drawAbovePrompt(s, v, border)
	}
}

// drawAbovePrompt draws an overlay above the prompt, with which it shares an edge as panes do: the
// joints of the panes that it covers would lead nowhere.
func (p *placed) drawAbovePrompt(s tcell.Screen, v tview.Primitive, border *draw.Border) {
	edge := p.Panes[layout.Prompt].Y
	p.Dialog = layout.Rect{Y: 1, W: p.w, H: max(edge-1, 0)}
	if p.Footer.Empty() || edge < 2 { // no frame around the prompt, or no room above it
		drawIn(s, v, p.Dialog)
		return
	}
	p.Dialog.H++
	drawIn(s, v, p.Dialog)
	border.Join(s, 0, edge, '├')
	border.Join(s, p.w-1, edge, '┤')
	border.DrawMode(s)
}

func drawIn(s tcell.Screen, p tview.Primitive, r layout.Rect) {
	if r.Empty() {
		return
	}
	p.SetRect(r.XYWH())
	p.Draw(s)
}

// passFocus tells the views which of them has the focus.
func passFocus(target tview.Primitive, v *viewSet, l *overlays) {
	if v.border.Blur(); target == v.prompt {
		v.border.Focus(func(tview.Primitive) {})
	}
	pass := func(v tview.Primitive) {
		if v == target {
			v.Focus(func(tview.Primitive) {})
		} else {
			v.Blur()
		}
	}
	for p := layout.Prompt; p <= layout.Tasks; p++ {
		pass(v.pane(p))
	}
	for _, v := range l.views {
		pass(v)
	}
	if v := l.list(); v != nil {
		pass(v)
	}
}

// drawJoints draws the cells where borders meet, which no pane knows of.
func (p *placed) drawJoints(s tcell.Screen, border *draw.Border) {
	for _, j := range p.joints {
		if text, _, _ := s.Get(j.X, j.Y); !strings.Contains("─│┌┐└┘", text) {
			continue // a title stands there
		}
		border.Join(s, j.X, j.Y, j.Rune)
	}
}

func (p *placed) drawTabs(s tcell.Screen, bar *views.TabBar, tab layout.Pane) {
	active := 0
	var names []string
	for i, t := range p.Tabs {
		names = append(names, t.String())
		if t == tab {
			active = i
		}
	}
	bar.SetTabs(names, active)
	drawIn(s, bar, p.TabBar)
}
