// Package panes shows what is live: the terminal panes of a session, one, or several in a grid, as they are
// or scrolled back, to be looked at or typed into; and what a call prints that has no pane.
//
//	p := panes.New(theme, keys, output)
//	p.Update(&s, state.Panes)
package panes

import (
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
)

// Panes draws the terminal panes of the session as tmux captured them: one, with the
// others as tabs, or several side by side, as those of a command on several targets. What does not fit is
// cut: the rows around the cursor show, and › says that more is at the right.
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
	printed  Printed // by the call without a pane
	attach   attachHint
	pictures pictures
	tiles    tiles
	boxes    []layout.Rect // of several panes; empty while one shows
	fits     bool          // panes get the size of what shows of them
	fitted   []paneFit     // the panes that did
}

// PaneIntents hold the callbacks for what a person does with terminal panes. Any may be nil.
type PaneIntents struct {
	OnOpen       func(c *state.Call, t *state.Task) // all of what ran in the selected pane is wanted; nil for what is not known
	OnType       func(id string, p []byte)          // bytes as a terminal sends them; may be a password
	OnPaste      func(id, text string)              // as private as what is typed
	OnFit        func(id string, w, h int)          // the size of what shows of the pane, 0x0 when that is over
	OnHistory    func(id string)                    // its history is wanted in the state
	OnBackground func()                             // send the command that the agent waits for to the background
	OnKill       func(id, name, why string)         // kill it; why says that it cannot be, else ""
}

// paneLook holds how panes are shown.
type paneLook struct {
	chosen gridChoice
	fleet  bool // a command began last that runs on several targets
}

// gridChoice tells whether a person wants several panes at once.
type gridChoice uint8

const (
	gridAuto gridChoice = iota // those that run; all for a command on several targets, and full screen
	gridOff
	gridOn
)

// Wanted returns how many panes are to be seen at once: those in which something runs, or, as a grid, all of them. When
// nothing runs there is none, unless the person is here.
func (p *Panes) Wanted(zoomed bool) (n int, grid bool) {
	for i := range p.list.panes {
		if p.list.panes[i].live() {
			n++
		}
	}
	switch look := p.look; {
	case n == 0 && !zoomed && !p.follow.held:
		return 0, false
	case look.chosen == gridOff:
		return min(len(p.list.panes), 1), false
	case look.chosen == gridOn || look.fleet || zoomed:
		return len(p.list.panes), true
	}
	return max(n, min(len(p.list.panes), 1)), false
}

// Lasts reports whether something has been running for so long that a person wants to look at it: text that makes room
// at each short command cannot be read.
func (p *Panes) Lasts() bool {
	long := p.follow.now().Add(-brief).UnixMilli()
	return p.list.newest(func(q *paneView) bool { return q.live() && q.run.started <= long }) != nil
}

// brief is the time in which most commands end.
const brief = time.Second

// Place tells the view in which boxes the panes show, none for one pane in the whole view, and whether there is so much
// room that a single pane gets the size of what shows of it, as several always do.
func (p *Panes) Place(boxes []layout.Rect, fits bool) {
	p.boxes, p.fits = boxes, fits || len(boxes) > 0
}

// Printed draws what one call prints.
type Printed interface {
	Show(c *state.Call) // nil for none
	DrawIn(in draw.Area)
	Following() bool // the end shows
	Scroll(rows int)
	Page(screens int)
	Top()
	Bottom()
}

// New returns a view without panes.
func New(theme *themes.Theme, keys *keymap.Map, printed Printed) *Panes {
	return &Panes{Frame: draw.NewFrame(theme, keys), printed: printed, follow: following{now: func() time.Time { return time.UnixMilli(0) }}, pictures: make(pictures)}
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
		if t.id != state.BarePane {
			ids = append(ids, t.id)
		}
	}
	return ids
}

// Hide tells the view that it is not on the screen.
func (p *Panes) Hide() {
	p.tiles = nil
	p.fit()
}

// Len counts the panes, and the call without one.
func (p *Panes) Len() int { return len(p.list.panes) }

// Update takes over what changed. Pictures are not copied; the state replaces them and
// never changes one.
func (p *Panes) Update(s *state.State, ch state.Changed) {
	if ch&(state.Panes|state.Tasks|state.Output|state.Conversation|state.Approvals) == 0 {
		return
	}
	p.asked = len(s.Approvals)
	p.list.panes = p.list.panes[:0]
	running := 0 // panes in which the command runs that began last
	for _, q := range s.Panes {
		p.list.panes = append(p.list.panes, paneView{*q, runIn(s, q)})
		if runsOn(s.Bare, q) && s.Began == state.BarePane {
			running++
		}
	}
	p.look.fleet = running > 1
	p.printed.Show(s.Bare)
	if c := s.Bare; c != nil && running == 0 {
		bare := state.Pane{PaneOpened: event.PaneOpened{Pane: state.BarePane, Title: c.Name, Target: c.On}}
		p.list.panes = append(p.list.panes, paneView{bare, runOf(c)})
	}
	p.follow.began = s.Began
	p.attach.update(s)
	p.followCommands()
	p.history = s.History
	p.back.update(s.History, p.list.shown)
}

// panesKeys holds what keys do, other than scrolling by pages, while they do not go to a pane.
var panesKeys = map[keymap.Action]func(*Panes){
	keymap.PaneType:     func(p *Panes) { p.BeginTyping() },
	keymap.PaneNext:     func(p *Panes) { p.step(1) },
	keymap.PanePrevious: func(p *Panes) { p.step(-1) },
	keymap.PaneGrid:     func(p *Panes) { p.look.toggle(len(p.boxes) > 0) },
	keymap.PaneAttach:   func(p *Panes) { p.attach.toggle() },
	keymap.PaneBackground: func(p *Panes) {
		if p.OnBackground != nil {
			p.OnBackground()
		}
	},
	keymap.PaneKill:   (*Panes).kill,
	keymap.ItemOpen:   (*Panes).open,
	keymap.ScrollUp:   func(p *Panes) { p.Scroll(-1) },
	keymap.ScrollDown: func(p *Panes) { p.Scroll(1) },
}

// Press types into the selected pane, or goes from pane to pane, scrolls back and reports
// what is wanted.
func (p *Panes) Press(press keymap.Press) {
	switch do := panesKeys[press.Action]; {
	case p.typing:
		p.typeKey(press)
	case do != nil:
		do(p)
	default:
		draw.Page(p, press.Action)
	}
}

// toggle shows one pane instead of several, or the other way round.
func (look *paneLook) toggle(several bool) {
	look.chosen = gridOn
	if several {
		look.chosen = gridOff
	}
}

// open reports that all of what ran in the selected pane is wanted.
func (p *Panes) open() {
	if q := p.list.selected(); q != nil && p.OnOpen != nil {
		p.OnOpen(q.run.call, q.run.task)
	}
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
	case q.bare():
		why = "This call has no pane. Cancel its task instead."
	case q.Title == sharedTitle:
		why = "The shell can't be killed: other commands run in it too. Cancel the task instead."
	case q.Lost != "":
		why = "This pane is already closed."
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
