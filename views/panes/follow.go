package panes

import (
	"time"

	"buddy/views/draw"
)

// following holds which pane shows when nobody chooses: the one in which a command began
// last. It stays while somebody types into it, reads its history or has the focus here.
type following struct {
	now    func() time.Time
	began  string    // id of that pane
	pinned bool      // a person has chosen another one
	held   bool      // the focus is here
	drawn  string    // id of the selected pane when it was drawn last
	since  time.Time // it took the place of another by itself then
}

// SetNow sets the clock that measures how long a pane has shown.
func (p *Panes) SetNow(now func() time.Time) { p.follow.now = now }

// SetHeld tells the view whether it has the focus. The selected pane then stays, so that a key
// means the pane that the person sees.
func (p *Panes) SetHeld(on bool) { p.follow.held = on }

// followCommands selects the pane to show, and another one when the selected one is gone.
func (p *Panes) followCommands() {
	q := p.list.selected()
	if q == nil || q.Lost != "" {
		p.EndTyping()
	}
	f := &p.follow
	if q == nil {
		f.pinned, p.back = false, scrollback{}
	}
	if q == nil || !f.pinned && !f.held && !p.typing && !p.back.on {
		p.list.shown = p.list.automatic(p.follow.began)
	}
}

// choose selects a pane. It stays, unless it is the one that would show anyway.
func (p *Panes) choose(id string) {
	if id != p.list.shown {
		p.EndTyping()
		p.back = scrollback{}
	}
	p.list.shown, p.follow.drawn = id, id
	p.follow.pinned = id != p.list.automatic(p.follow.began)
}

// see takes note of the selected pane, which is drawn.
func (f *following) see(shown string) {
	if f.drawn != "" && f.drawn != shown {
		f.since = f.now()
	}
	f.drawn = shown
}

// seen reports whether the selected pane has been on the screen for long enough: a key that
// comes now was not meant for the one before.
func (f *following) seen(shown string) bool {
	return f.drawn == shown && f.now().Sub(f.since) >= draw.GracePeriod
}
