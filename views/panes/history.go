package panes

import (
	"fmt"

	"buddy/agent/event"
	"buddy/themes"
	"buddy/views/draw"
)

// scrollback shows the history of the selected pane. It does not move while the pane prints.
type scrollback struct {
	on      bool
	before  *event.PaneHistory // the latest history when this one was requested
	of      *event.PaneHistory // the requested history; nil until it arrives
	pic     draw.Picture
	window  draw.Viewport
	first   bool // the next call of place moves the window to the end
	pending int  // rows to move when the history arrives
}

// update stores a requested history when it arrives.
func (b *scrollback) update(h *event.PaneHistory, id string) {
	if b.on && b.of == nil && h != nil && h.Pane == id && h != b.before {
		b.of = h
		b.pic.Read(h, h.Rows)
	}
}

// place scrolls a window of h rows by the number of rows requested so far, starting at the end of the history. It
// reports whether that end is visible.
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

// status returns the position in the history.
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

// EndScroll returns to the live picture and reports whether the view was scrolled back.
func (p *Panes) EndScroll() bool {
	on := p.back.on
	if q := p.list.selected(); q != nil && q.bare() && !p.printed.Following() {
		p.printed.Bottom()
		on = true
	}
	p.back = scrollback{}
	return on
}

// Scroll moves in the history of the selected pane. The first move requests the history; at its end the picture is live
// again.
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

// rows returns the visible rows of a pane, 1 if it is not visible.
func (all tiles) rows(id string) int {
	if t, ok := all.of(id); ok {
		return t.h
	}
	return 1
}

// Page scrolls by screens, down if positive.
func (p *Panes) Page(screens int) {
	if q := p.list.selected(); q != nil && q.bare() {
		p.printed.Page(screens)
		return
	}
	p.Scroll(screens * max(p.tiles.rows(p.list.shown)-1, 1))
}

// Top goes to the start of the history.
func (p *Panes) Top() {
	if q := p.list.selected(); q != nil && q.bare() {
		p.printed.Top()
		return
	}
	p.Scroll(-1 << 20)
}

// Bottom returns to the live picture.
func (p *Panes) Bottom() {
	p.printed.Bottom()
	p.EndScroll()
}
