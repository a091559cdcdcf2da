package panes

import (
	"slices"
	"time"

	"buddy/views/draw"
)

// following is which pane shows when nobody chooses: the one in which a command began
// last. It stays while somebody types into it, reads its history or has the focus here.
type following struct {
	now    func() time.Time
	began  string    // id of that pane
	pinned bool      // a person has chosen another one
	held   bool      // the focus is here
	drawn  string    // id of the selected pane when it was drawn last
	since  time.Time // it took the place of another by itself then
}

// SetNow gives the clock that says how long a pane has shown.
func (p *Panes) SetNow(now func() time.Time) { p.follow.now = now }

// SetHeld tells the view whether it has the focus. The selected pane then stays, so that a key
// means the pane that the person sees.
func (p *Panes) SetHeld(on bool) { p.follow.held = on }

// followCommands selects the pane to show, and another one when the selected one is gone.
func (p *Panes) followCommands() {
	q := p.selected()
	if q == nil || q.Lost != "" {
		p.EndTyping()
	}
	f := &p.follow
	if q == nil {
		f.pinned, p.back = false, scrollback{}
	}
	if q == nil || !f.pinned && !f.held && !p.typing && !p.back.on {
		p.shown = p.automatic()
	}
}

// automatic is the pane in which a command began last, else the one opened last that is
// not lost, else the last one.
func (p *Panes) automatic() string {
	last := ""
	for _, q := range slices.Backward(p.panes) {
		switch {
		case q.Lost == "" && q.Pane.Pane == p.follow.began:
			return p.follow.began
		case last == "" && q.Lost == "":
			last = q.Pane.Pane
		}
	}
	if n := len(p.panes); last == "" && n > 0 {
		last = p.panes[n-1].Pane.Pane
	}
	return last
}

// choose selects a pane. It stays, unless it is the one that would show anyway.
func (p *Panes) choose(id string) {
	if id != p.shown {
		p.EndTyping()
		p.back = scrollback{}
	}
	p.shown, p.follow.drawn = id, id
	p.follow.pinned = id != p.automatic()
}

// see takes note of what is drawn.
func (p *Panes) see() {
	f := &p.follow
	if f.drawn != "" && f.drawn != p.shown {
		f.since = f.now()
	}
	f.drawn = p.shown
}

// seen reports whether the selected pane has been on the screen for long enough: a key that
// comes now was not meant for the one before.
func (p *Panes) seen() bool {
	f := &p.follow
	return f.drawn == p.shown && f.now().Sub(f.since) >= draw.GracePeriod
}
