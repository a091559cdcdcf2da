// Package panes shows the terminal panes of a session: one, or all in a grid, live or
// scrolled back, to be looked at or typed into.
//
//	p := panes.New(theme, keys)
//	p.Update(&s, state.Panes)
package panes

import (
	"fmt"
	"slices"
	"strings"
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
// the rows around the cursor show, and › says that more is at the right (DECISIONS 18).
type Panes struct {
	draw.Frame
	PaneIntents
	panes    []paneView
	shown    string // id of the selected pane
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

// PaneIntents are called for what a person wants of terminal panes. Any may be nil.
type PaneIntents struct {
	OnZoom    func()                     // full screen and back
	OnType    func(id string, p []byte)  // bytes as a terminal sends them; may be a password
	OnPaste   func(id, text string)      // as private as what is typed
	OnFit     func(id string, w, h int)  // the size of what shows of the pane, 0x0 when that is over
	OnHistory func(id string)            // its history is wanted in the state
	OnKill    func(id, name, why string) // kill it; why says that it cannot be, else ""
}

// paneView is a pane with how the last command in it went.
type paneView struct {
	state.Pane
	mark mark
}

// paneLook is how panes are shown.
type paneLook struct {
	quiet  bool // the line that says how to attach is hidden
	single bool // only the selected pane, even where several paneFit
	zoomed bool // they fill the screen
}

// mark says how a command goes or went.
type mark struct {
	sign string
	word string
	role themes.Role
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
func (p *Panes) Shown() string { return p.shown }

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
func (p *Panes) Len() int { return len(p.panes) }

// Update takes over what changed. Pictures are not copied; the state replaces them and
// never changes one.
func (p *Panes) Update(s *state.State, ch state.Changed) {
	if ch&(state.Panes|state.Tasks|state.Output|state.Conversation|state.Approvals) == 0 {
		return
	}
	p.asked = len(s.Approvals)
	p.panes = p.panes[:0]
	for _, q := range s.Panes {
		p.panes = append(p.panes, paneView{*q, markOf(s, q)})
	}
	p.follow.began = s.Began
	p.followCommands()
	p.history = s.History
	p.back.update(s.History, p.shown)
}

// markOf is how the command goes that belongs to a pane: the task of which it is the
// own, or the last one that began in the shared pane of a target.
func markOf(s *state.State, q *state.Pane) mark {
	for _, t := range slices.Backward(s.Tasks) {
		if t.Pane != q.Pane {
			continue
		}
		if t.State != state.TaskDone {
			return runs
		}
		if t.Outcome == event.Completed {
			return exited(0)
		}
		if code, ok := strings.CutPrefix(t.Error, "exit code "); ok {
			return mark{"✗", "exit " + draw.OneLine(code), themes.ToolError}
		}
		_, _, word := draw.TaskOutcome(t)
		return mark{"✗", draw.OneLine(word), themes.ToolError}
	}
	c := s.Ran(q.Target)
	switch {
	case c == nil || q.Title != sharedTitle:
	case c.State == state.CallRunning:
		return runs
	case c.ExitCode != nil:
		return exited(*c.ExitCode)
	}
	return mark{}
}

// sharedTitle is that of the pane for the commands that have none of their own.
const sharedTitle = "shared"

var runs = mark{"●", "running", themes.Running}

func exited(code int) mark {
	if code == 0 {
		return mark{"✔", "exit 0", themes.ToolOK}
	}
	return mark{"✗", fmt.Sprintf("exit %d", code), themes.ToolError}
}

func (p *Panes) index() int {
	return slices.IndexFunc(p.panes, func(q paneView) bool { return q.Pane.Pane == p.shown })
}

func (p *Panes) selected() *paneView {
	if i := p.index(); i >= 0 {
		return &p.panes[i]
	}
	return nil
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
		default:
			p.scrollKey(a)
		}
	})
}

func (p *Panes) step(by int) {
	if n := len(p.panes); n > 0 {
		p.choose(p.panes[(p.index()+by+n)%n].Pane.Pane)
	}
}

// kill reports that the selected pane shall be killed.
func (p *Panes) kill() {
	q := p.selected()
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
	p.OnKill(q.Pane.Pane, p.name(q), why)
}

// MouseHandler selects the pane under the pointer and scrolls back with the wheel.
func (p *Panes) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return p.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		for _, t := range p.tiles {
			wheels := action == tview.MouseScrollUp || action == tview.MouseScrollDown
			if t.has(x, y) && (action == tview.MouseLeftDown || wheels && t.id != p.shown) {
				p.choose(t.id)
			}
		}
		return draw.Wheel(p, action, ev, setFocus), nil
	})
}

// name is a pane's title with where it is, if that is elsewhere or there are several such
// places.
func (p *Panes) name(q *paneView) string {
	name := draw.OneLine(q.Title)
	if q.Target != "" && (q.Target != "local" || p.severalTargets()) {
		name = q.Target + ":" + name
	}
	return name
}

func (p *Panes) severalTargets() bool {
	return slices.ContainsFunc(p.panes, func(q paneView) bool { return q.Target != p.panes[0].Target })
}
