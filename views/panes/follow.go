package panes

import (
	"time"

	"buddy/views/draw"
)

// following determines the pane shown by default: the one in which a command started last. It does not change while a
// person types into the pane, reads its history or has the focus on the view.
type following struct {
	now    func() time.Time
	began  string    // id of the pane in which a command started last
	pinned bool      // a person chose another pane
	held   bool      // the view has the focus
	drawn  string    // id of the selected pane at the last draw
	since  time.Time // when drawn last changed without the person's action
}

// SetNow sets the clock that measures how long a pane has been visible.
func (p *Panes) SetNow(now func() time.Time) { p.follow.now = now }

// SetHeld sets whether the view has the focus. The selection then does not change by itself, so that a key goes to the
// pane that the person sees.
func (p *Panes) SetHeld(on bool) { p.follow.held = on }

// followCommands selects the default pane, unless the person keeps the selected one. If the selected pane is gone, it
// selects another.
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

// choose selects a pane and keeps it selected when commands start elsewhere, unless it is the default pane.
func (p *Panes) choose(id string) {
	if id != p.list.shown {
		p.EndTyping()
		p.back = scrollback{}
	}
	p.list.shown, p.follow.drawn = id, id
	p.follow.pinned = id != p.list.automatic(p.follow.began)
}

// see records the selected pane, which is being drawn.
func (f *following) see(shown string) {
	if f.drawn != "" && f.drawn != shown {
		f.since = f.now()
	}
	f.drawn = shown
}

// seen reports whether the selected pane has been on the screen long enough to receive keys. Earlier keys were meant
// for the previous pane.
func (f *following) seen(shown string) bool {
	return f.drawn == shown && f.now().Sub(f.since) >= draw.GracePeriod
}
