package ui

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/action"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/views"
	"buddy/views/draw"
	"buddy/views/prompt"
	"buddy/views/transcript"
)

// input returns the input of the layout.
func (u *UI) input(w, h int) layout.Input {
	a := &u.arranged
	in := layout.Input{
		W: w, H: h, Tab: a.tab, Zoom: a.zoom,
		Prompt: u.v.prompt.Height(w, max(1, h/3)), Rules: a.rules, Queue: u.v.queue.Rows(),
		Beside: layout.Beside{Hidden: a.shape.Hidden, Wide: a.shape.Wide, Side: a.shape.Side, Upper: a.shape.Live},
	}
	in.Live, in.Grid = u.v.panes.Wanted(a.zoom)
	in.Tasks = u.v.tasks.Rows(in.ColumnWidth())
	if a.focus == layout.Tasks { // the pane stays while it has the focus
		in.Tasks = max(in.Tasks, 1)
	}
	a.open(&in, u.v.panes.Lasts(), u.v.tasks.Unseen())
	if v := u.overlays.docked(); v != nil {
		in.Dock, in.DockFull = v.Rows(w), u.dock.full || u.dock.approval.Explains()
	}
	if o, ok := u.overlays.top().(boxed); ok {
		in.Dialog.W, in.Dialog.H = o.Size(roomFor(w, h))
	}
	if p := u.v.prompt.Popup(); p.Open() {
		in.Popup.W, in.Popup.H = p.Size(h)
	} else if u.overlays.cheat && !u.overlays.covered() {
		in.Popup.W, in.Popup.H = u.v.cheat.Size(w)
	}
	return in
}

// roomFor returns the largest size of a dialog on a screen of the given size. On a small screen it is everything but
// the header.
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

// placed is the layout of a frame with its joints. They are computed only when a pane or the dock has moved, because in
// most frames nothing moves.
type placed struct {
	layout.Layout
	in     layout.Input
	joints []layout.Joint
}

func (p *placed) set(in layout.Input) {
	before := p.Layout
	p.Layout, p.in = layout.Of(in), in
	if p.Panes != before.Panes || p.Dock != before.Dock || !slices.Equal(p.Tiles, before.Tiles) {
		p.joints = p.Joints()
	}
}

// Draw places the views and draws them.
func (u *UI) Draw(s tcell.Screen) {
	w, h := s.Size()
	u.SetRect(0, 0, w, h)
	lay := &u.arranged.lay
	lookAround(u)
	seekOn(u)
	u.v.tasks.Visit(u.arranged.focus == layout.Tasks)
	u.dock.question.SetReplies(u.dock.replies() && u.dock.answers == u.dock.request)
	u.arranged.rules = u.v.prompt.Ruled(s)
	lay.set(u.input(w, h))
	if u.arranged.focus != layout.Conversation {
		transcript.LeaveFind(u.v.conversation)
	}
	_, target := u.target()
	passFocus(target, &u.v, &u.overlays)
	s.HideCursor()
	u.v.panes.Place(lay.Tiles, lay.Panes[layout.Live].W >= layout.SideBySide)
	u.v.header.SetApprovalLeft(u.dock.request != "" && u.overlays.docked() == nil)
	drawIn(s, u.v.header, lay.Header)
	for p := layout.Conversation; p <= layout.Tasks; p++ {
		drawIn(s, u.v.pane(p), lay.Panes[p])
	}
	u.watched.update(shownPanes(&u.v, lay), u.deps.Send)
	scope, target := u.target() // drawing may have ended typing in a pane
	u.v.status.SetStops(stops(u.deps.Keys.Name(keymap.Back), scope, target, u.v.prompt), target == u.v.prompt)
	u.v.status.SetQuiet(!lay.Dock.Empty())
	u.v.status.SetHidden(views.Hidden{
		Steps: lay.Panes[layout.Tasks].Empty(), Queue: lay.Queue.Empty(), Others: lay.Strip.Empty() && lay.Panes[layout.Tasks].Empty(),
		Retries: lay.Panes[layout.Conversation].Empty() || !transcript.Follows(u.v.conversation),
	})
	u.v.queue.SetLocked(u.dock.hasKeys())
	drawIn(s, u.v.queue, lay.Queue)
	drawIn(s, u.v.strip, lay.Strip)
	lay.drawStatus(s, u.v.status, statusEnd(u))
	drawIn(s, u.v.prompt, lay.Input)
	for _, r := range []layout.Rect{lay.Above, lay.Below} {
		u.v.border.Rule(s, r.X, r.Y, r.W, u.arranged.rules)
	}
	u.v.footer.SetScope(scope, u.overlays.covered())
	u.v.footer.SetPanes(!lay.Panes[layout.Live].Empty() || !lay.Panes[layout.Tasks].Empty() || !lay.Strip.Empty())
	u.v.footer.SetRetry(u.v.prompt.Retries())
	drawIn(s, u.v.footer, lay.Footer)
	if v := u.dock.view(); !lay.Dock.Empty() {
		drawIn(s, v, lay.Dock)
	}
	lay.drawJoints(s, u.v.border)
	if p := u.v.prompt.Popup(); p.Open() {
		drawIn(s, p, lay.Popup)
	} else if !lay.Popup.Empty() {
		drawIn(s, u.v.cheat, lay.Popup)
	}
	lay.drawOver(s, u.overlays.top())
}

// stops returns how the user stops the main task from the prompt with the key called name: name, or name twice if the
// first press only leaves a mode or closes a list. It returns "" if another view or the history search uses the key.
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

// drawOver draws the top overlay unless it is docked: a boxed overlay in the middle, others over the panes.
func (p *placed) drawOver(s tcell.Screen, v overlayView) {
	switch v.(type) {
	case nil, dockedView:
	case boxed:
		drawIn(s, v, p.Dialog)
	default:
		p.Dialog = layout.Rect{Y: p.Header.H, W: p.in.W, H: p.Panes[layout.Prompt].Y - p.Header.H}
		drawIn(s, v, p.Dialog)
	}
}

func drawIn(s tcell.Screen, p tview.Primitive, r layout.Rect) {
	if r.Empty() {
		return
	}
	p.SetRect(r.XYWH())
	p.Draw(s)
}

// passFocus focuses the target view and blurs the others.
func passFocus(target tview.Primitive, v *viewSet, l *overlays) {
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

// drawJoints draws the cells where borders of panes meet.
func (p *placed) drawJoints(s tcell.Screen, border *draw.Border) {
	for _, j := range p.joints {
		text, _, _ := s.Get(j.X, j.Y)
		side := j.X == 0 || j.X == p.in.W-1 // no title is there; the rules of the dock end before it
		if !side && !strings.Contains("─│┌┐└┘", text) {
			continue // a title is there
		}
		border.Join(s, j.X, j.Y, j.Rune)
	}
}

// statusEnd returns the right end of the status line: the label of the prompt and, without a header, the approval mode
// unless it is ask.
func statusEnd(u *UI) string {
	text := borderMode(u)
	if m := u.state.Info.Mode; u.arranged.lay.Header.Empty() && m != "" && m != action.ModeAsk {
		text = strings.TrimPrefix(text+" · "+string(m), " · ")
	}
	return text
}

// drawStatus draws the status line, with prompt at its right end.
func (p *placed) drawStatus(s tcell.Screen, line *views.StatusLine, prompt string) {
	line.SetMode(prompt)
	drawIn(s, line, p.Status)
}
