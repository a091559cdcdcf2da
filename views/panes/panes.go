// Package panes shows the terminal panes of a session: one, or all in a grid, live or
// scrolled back, to be looked at or typed into.
//
//	p := panes.New(theme, keys)
//	p.Update(&s, state.Panes)
package panes

import (
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
)

// Panes draws the terminal panes of the session as tmux captured them: one, with the
// others as tabs, or several side by side where there is room. What does not fit is cut:
// the rows around the cursor show, and › says that more is at the right.
type Panes struct {
	draw.Frame
	PaneIntents
	list     paneList
	follow   following
	look     paneLook
	typing   bool               // keys go to the selected pane
	asked    int                // approvals that wait
	history  *event.PaneHistory // the latest that came
	back     scrollback
	pictures map[string]*draw.Picture // of the panes that were drawn last
	tiles    []tile                   // where they were drawn
	fitted   paneFit                  // the pane that was given the size of its tile
}

// PaneIntents hold the callbacks for what a person does with terminal panes. Any may be nil.
type PaneIntents struct {
	OnZoom    func()                     // full screen and back
	OnType    func(id string, p []byte)  // bytes as a terminal sends them; may be a password
	OnPaste   func(id, text string)      // as private as what is typed
	OnFit     func(id string, w, h int)  // the size of what shows of the pane, 0x0 when that is over
	OnHistory func(id string)            // its history is wanted in the state
	OnKill    func(id, name, why string) // kill it; why says that it cannot be, else ""
}

// paneLook holds how panes are shown.
type paneLook struct {
	quiet  bool // the line that says how to attach is hidden
	single bool // only the selected pane, even where several paneFit
	zoomed bool // they fill the screen
}

// New returns a view without panes.
func New(theme *themes.Theme, keys *keymap.Map) *Panes {
	return &Panes{Frame: draw.NewFrame(theme, keys), follow: following{now: func() time.Time { return time.UnixMilli(0) }}, pictures: make(map[string]*draw.Picture)}
}

// Scope returns the scope in which keys are looked up: to the view, or all but one to the selected pane.
func (p *Panes) Scope() keymap.Scope {
	if p.typing {
		return keymap.Typing
	}
	return keymap.Panes
}

// Shown returns the id of the selected pane, "" if there is none.
func (p *Panes) Shown() string { return p.list.shown }

// Visible returns the ids of the panes that were drawn last.
func (p *Panes) Visible() []string {
	var ids []string
	for _, t := range p.tiles {
		ids = append(ids, t.id)
	}
	return ids
}

// Hide tells the view that it is not on the screen.
func (p *Panes) Hide() {
	p.tiles = nil
	p.fitTo(paneFit{})
}

// SetZoomed tells the view whether it fills the screen.
func (p *Panes) SetZoomed(on bool) { p.look.zoomed = on }

// Len counts the panes.
func (p *Panes) Len() int { return len(p.list.panes) }

// Update takes over what changed. Pictures are not copied; the state replaces them and
// never changes one.
func (p *Panes) Update(s *state.State, ch state.Changed) {
	if ch&(state.Panes|state.Tasks|state.Output|state.Conversation|state.Approvals) == 0 {
		return
	}
	p.asked = len(s.Approvals)
	p.list.panes = p.list.panes[:0]
	for _, q := range s.Panes {
		p.list.panes = append(p.list.panes, paneView{*q, markOf(s, q)})
	}
	p.follow.began = s.Began
	p.followCommands()
	p.history = s.History
	p.back.update(s.History, p.list.shown)
}

// InputHandler types into the selected pane, or goes from pane to pane, scrolls back and
// reports what is wanted.
func (p *Panes) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return p.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		a := p.Keys.Lookup(ev, p.Scope()).Action
		if p.typing {
			p.typeKey(a, ev)
			return
		}
		switch a {
		case keymap.PaneType:
			p.BeginTyping()
		case keymap.PaneNext:
			p.step(1)
		case keymap.PanePrevious:
			p.step(-1)
		case keymap.PaneGrid:
			p.look.single = !p.look.single
		case keymap.PaneAttach:
			p.look.quiet = !p.look.quiet
		case keymap.PaneKill:
			p.kill()
		case keymap.Zoom:
			if p.OnZoom != nil {
				p.OnZoom()
			}
		case keymap.ScrollUp:
			p.Scroll(-1)
		case keymap.ScrollDown:
			p.Scroll(1)
		default:
			draw.Page(p, a)
		}
	})
}

func (p *Panes) step(by int) {
	if n := len(p.list.panes); n > 0 {
		p.choose(p.list.panes[(p.list.index()+by+n)%n].Pane.Pane)
	}
}

// kill reports that the selected pane shall be killed.
func (p *Panes) kill() {
	q := p.list.selected()
	if q == nil || p.OnKill == nil {
		return
	}
	why := ""
	switch {
	case q.Title == sharedTitle:
		why = "the shared pane can't be killed: all commands without a pane of their own run there; cancel the task instead"
	case q.Lost != "":
		why = "the pane is gone already"
	}
	p.OnKill(q.Pane.Pane, p.list.name(q), why)
}

// MouseHandler selects the pane under the pointer and scrolls back with the wheel.
func (p *Panes) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return p.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		for _, t := range p.tiles {
			wheels := action == tview.MouseScrollUp || action == tview.MouseScrollDown
			if t.has(x, y) && (action == tview.MouseLeftDown || wheels && t.id != p.list.shown) {
				p.choose(t.id)
			}
		}
		return draw.Wheel(p, action, ev, setFocus), nil
	})
}
