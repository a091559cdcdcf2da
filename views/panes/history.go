package panes

import (
	"fmt"

	"buddy/agent/event"
	"buddy/themes"
	"buddy/views/draw"
)

// scrollback holds what a person reads of the history of the selected pane. It stands still
// whatever the pane prints.
type scrollback struct {
	on      bool
	before  *event.PaneHistory // the latest when this one was asked for
	of      *event.PaneHistory // nil until it has come
	pic     draw.Picture
	window  draw.Viewport
	first   bool // it was not placed yet: it begins at the end
	pending int  // rows to move when the history has come
}

// update takes over a history that came, if it was asked for.
func (b *scrollback) update(h *event.PaneHistory, id string) {
	if b.on && b.of == nil && h != nil && h.Pane == id && h != b.before {
		b.of = h
		b.pic.Read(h, h.Rows)
	}
}

// place puts the window where it was asked to be, at the end first, in h rows. It reports
// whether the end of the history shows.
func (b *scrollback) place(h int) (live bool) {
	end := max(len(b.of.Rows)-h, 0)
	if b.first {
		b.first, b.window.Top = false, end
	}
	b.window.Top += b.pending
	b.pending = 0
	live = b.window.Top >= end
	b.window.Show(len(b.of.Rows), h)
	return live
}

func (b *scrollback) draw(in draw.Area) {
	if b.of == nil {
		in.Inset().Say(0, "loading the scrollback …", themes.Muted)
		return
	}
	b.place(in.H)
	in = in.Terminal()
	for i := range min(in.H, len(b.of.Rows)-b.window.Top) {
		b.pic.Draw(in.Down(i), b.window.Top+i)
	}
}

// status returns where in the history this is.
func (b *scrollback) status(rows int, liveKey string) []draw.Span {
	if b.of == nil {
		return nil
	}
	b.place(rows)
	return []draw.Span{
		draw.Text(themes.Warning, fmt.Sprintf("row %d of %d", b.window.Top+1, len(b.of.Rows))),
		draw.Text(themes.Muted, " · "), draw.Text(themes.Key, liveKey), draw.Text(themes.Muted, " live"),
	}
}

// EndScroll goes back to the live picture and reports whether that was not shown.
func (p *Panes) EndScroll() bool {
	on := p.back.on
	if q := p.list.selected(); q != nil && q.bare() && !p.printed.Following() {
		p.printed.Bottom()
		on = true
	}
	p.back = scrollback{}
	return on
}

// Scroll moves back or on in the history of the selected pane. What it holds is asked for
// when that begins; at its end the picture is live again.
func (p *Panes) Scroll(rows int) {
	q := p.list.selected()
	b := &p.back
	switch {
	case q != nil && q.bare():
		p.printed.Scroll(rows)
		return
	case q == nil || !b.on && rows > 0:
		return
	case !b.on:
		*b = scrollback{on: true, first: true, before: p.history}
		if p.OnHistory != nil {
			p.OnHistory(q.Pane.Pane)
		}
	}
	b.pending += rows
	if b.of != nil && b.place(p.tiles.rows(p.list.shown)) {
		p.EndScroll()
	}
}

// rows returns how many rows of a pane show, 1 if it does not.
func (all tiles) rows(id string) int {
	if t, ok := all.of(id); ok {
		return t.h
	}
	return 1
}

// Page scrolls by screens, down if they are positive.
func (p *Panes) Page(screens int) {
	if q := p.list.selected(); q != nil && q.bare() {
		p.printed.Page(screens)
		return
	}
	p.Scroll(screens * max(p.tiles.rows(p.list.shown)-1, 1))
}

// Top goes to the beginning of the history.
func (p *Panes) Top() {
	if q := p.list.selected(); q != nil && q.bare() {
		p.printed.Top()
		return
	}
	p.Scroll(-1 << 20)
}

// Bottom goes back to the live picture.
func (p *Panes) Bottom() {
	p.printed.Bottom()
	p.EndScroll()
}
