// Package panes shows the terminal panes of a session, one at a time or several in a grid, live or scrolled back. It
// passes keys to the panes. It also shows the output of calls that have no pane.
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

// Panes draws the terminal panes of the session as tmux captured them: one pane with the others as tabs, or several
// panes side by side. Panes that are too large are cut: the rows around the cursor are visible, and › marks a cut right
// side.
type Panes struct {
	draw.Frame
	PaneIntents
	list     paneList
	follow   following
	look     paneLook
	typing   bool               // keys go to the selected pane
	asked    int                // open approvals
	history  *event.PaneHistory // the latest that arrived
	back     scrollback
	printed  Printed // draws the output of the call without a pane
	attach   attachHint
	pictures pictures
	tiles    tiles
	boxes    []layout.Rect // of several panes; empty for one
	fits     bool          // panes get the size of their visible part
	fitted   []paneFit     // the panes that got a size
}

// PaneIntents are the callbacks for actions on terminal panes. Any may be nil.
type PaneIntents struct {
	OnOpen       func(c *state.Call, t *state.Task) // opens the whole output of the selected pane; nil if unknown
	OnType       func(id string, p []byte)          // bytes as sent by a terminal; may be a password
	OnPaste      func(id, text string)              // as private as typed text
	OnFit        func(id string, w, h int)          // the size of the visible part; 0×0: the original size
	OnHistory    func(id string)                    // requests the pane's history
	OnBackground func()                             // moves the command that the agent waits for to the background
	OnKill       func(id, name, why string)         // kills the pane; if that is impossible, why is the reason, otherwise ""
}

// paneLook determines how panes are shown.
type paneLook struct {
	chosen gridChoice
	fleet  bool // the last started command runs on several targets
}

// gridChoice is a person's choice about several panes.
type gridChoice uint8

const (
	gridAuto gridChoice = iota // live panes; all panes if a command runs on several targets, or on the full screen
	gridOff
	gridOn
)

// Wanted returns how many panes to show at once: the live ones or, as a grid, all. If nothing runs, n is 0, unless the
// view has the focus or is zoomed.
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

// Lasts reports whether a command has been running long enough to show the view. Opening it for each short command
// would move the text that a person reads.
func (p *Panes) Lasts() bool {
	long := p.follow.now().Add(-brief).UnixMilli()
	return p.list.newest(func(q *paneView) bool { return q.live() && q.run.started <= long }) != nil
}

// brief is a time in which most commands end.
const brief = time.Second

// Place sets the boxes of the panes; without boxes, one pane fills the view. fits sets whether that pane is resized to
// its visible part. Several panes are always resized.
func (p *Panes) Place(boxes []layout.Rect, fits bool) {
	p.boxes, p.fits = boxes, fits || len(boxes) > 0
}

// Printed draws the output of a call that runs without a pane.
type Printed interface {
	Show(c *state.Call) // nil for none
	DrawIn(in draw.Area)
	Following() bool // the view follows the end
	Scroll(rows int)
	Page(screens int)
	Top()
	Bottom()
}

// New returns a view without panes.
func New(theme *themes.Theme, keys *keymap.Map, printed Printed) *Panes {
	return &Panes{Frame: draw.NewFrame(theme, keys), printed: printed, follow: following{now: func() time.Time { return time.UnixMilli(0) }}, pictures: make(pictures)}
}

// Scope returns the key scope of the view or, while a person types, the scope in which all keys but one go to the
// selected pane.
func (p *Panes) Scope() keymap.Scope {
	if p.typing {
		return keymap.Typing
	}
	return keymap.Panes
}

// Shown returns the id of the selected pane, or "".
func (p *Panes) Shown() string { return p.list.shown }

// Visible returns the ids of the panes at the last draw.
func (p *Panes) Visible() []string {
	var ids []string
	for _, t := range p.tiles {
		if t.id != state.BarePane {
			ids = append(ids, t.id)
		}
	}
	return ids
}

// Hide records that the view is not on the screen.
func (p *Panes) Hide() {
	p.tiles = nil
	p.fit()
}

// Len counts the panes, including one for the call without a pane.
func (p *Panes) Len() int { return len(p.list.panes) }

// Update processes changes of the state. Pictures are not copied, because the state replaces them and never changes
// them.
func (p *Panes) Update(s *state.State, ch state.Changed) {
	if ch&(state.Panes|state.Tasks|state.Output|state.Conversation|state.Approvals) == 0 {
		return
	}
	p.asked = len(s.Approvals)
	p.list.panes = p.list.panes[:0]
	running := 0 // panes in which the last started command runs
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

// panesKeys maps actions, except paging, to functions. They are used while typed keys do not go to a pane.
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

// Press types into the selected pane, or selects panes, scrolls and calls the callbacks.
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

// toggle switches between one and several panes.
func (look *paneLook) toggle(several bool) {
	look.chosen = gridOn
	if several {
		look.chosen = gridOff
	}
}

// open requests the whole output of the selected pane.
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

// kill requests that the selected pane is killed.
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

// MouseHandler selects the pane under the pointer and scrolls with the wheel.
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
