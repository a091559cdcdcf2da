package views

import (
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"

	"buddy/themes"
)

// The least size of one of several panes, its title included.
const (
	tileWidth  = 38
	tileHeight = 6
)

// What most programs make do with.
const (
	usualWidth  = 80
	usualHeight = 24
)

// nameWidth is how much of its name a tab shows.
const nameWidth = 24

// tile is where a pane was drawn.
type tile struct {
	id         string
	x, y, w, h int
}

func (t tile) has(x, y int) bool { return x >= t.x && x < t.x+t.w && y >= t.y && y < t.y+t.h }

// paneFit is the size that a pane was given; the zero paneFit is none.
type paneFit struct {
	id   string
	w, h int
}

// fitTo reports that a pane shall have another size than before.
func (p *Panes) fitTo(f paneFit) {
	if f == p.fitted || p.OnFit == nil {
		return
	}
	if old := p.fitted.id; old != "" && old != f.id {
		p.OnFit(old, 0, 0)
	}
	if p.fitted = f; f.id != "" {
		p.OnFit(f.id, f.w, f.h)
	}
}

// Draw draws the selected pane, or those that there is room for.
func (p *Panes) Draw(screen tcell.Screen) {
	p.followCommands()
	p.see()
	_, _, w, h := p.GetRect()
	cols, rows := p.grid(w-2, h-2)
	several := cols*rows > 1
	left, right := p.heads(w - 6)
	if several {
		left = []span{own(themes.Strong, "Panes"), own(themes.Muted, " · "+fmt.Sprint(len(p.panes)))}
	}
	in := p.bordered(screen, titles{left: left, right: right}).cleared()
	p.tiles = p.tiles[:0]
	if in.w <= 0 || in.h <= 0 {
		p.Hide()
		return
	}
	if p.index() < 0 {
		p.Hide()
		in.inset().say(0, "none yet; the first command opens one", themes.Muted)
		return
	}
	if !several {
		p.drawPane(in, p.selected())
	} else {
		p.drawGrid(in, cols, rows)
	}
	for id := range p.pictures {
		if !slices.ContainsFunc(p.tiles, func(t tile) bool { return t.id == id }) {
			delete(p.pictures, id)
		}
	}
	p.fitTo(p.wantedFit(several))
}

// grid says how many panes show beside and below each other in w×h cells: all of them in
// the way that shows most of each, else as many as have room.
func (p *Panes) grid(w, h int) (cols, rows int) {
	n := len(p.panes)
	maxCols, maxRows := min(n, (w+1)/(tileWidth+1)), min(n, h/tileHeight)
	if p.look.single || maxCols < 1 || maxRows < 1 || maxCols < 2 && !p.look.zoomed {
		return 1, 1
	}
	cols, rows = maxCols, maxRows
	most := 0
	for c := 1; c <= maxCols; c++ {
		r := (n + c - 1) / c
		if seen := min((w+1)/c-1, usualWidth) * min(h/r-1, usualHeight); r <= maxRows && seen > most {
			cols, rows, most = c, r, seen
		}
	}
	return cols, rows
}

// wantedFit is the size for a pane that somebody types into or looks at alone.
func (p *Panes) wantedFit(several bool) paneFit {
	q := p.selected()
	if q.Lost != "" || p.back.on || !p.typing && (!p.look.zoomed || several) {
		return paneFit{}
	}
	for _, t := range p.tiles {
		if t.id == p.shown && t.w > 1 && t.h > 1 {
			return paneFit{t.id, t.w, t.h}
		}
	}
	return paneFit{}
}

// heads are what the border says in w cells: the names of the panes, and what is done with
// the selected one. Of that a few words must do where its name would not show.
func (p *Panes) heads(w int) (left, right []span) {
	right, less := p.doing()
	if len(right) == 0 {
		return p.title(w), nil
	}
	if q := p.selected(); q != nil && w-spansWidth(right)-3 < len("Panes · 10/10 ▸ ●")+spansWidth(foreign(themes.Text, p.name(q))) {
		right = less
	}
	return p.title(w - spansWidth(right) - 3), right
}

// title is the names of the panes in at most w cells. ▸ marks the one that shows; when
// not all fit, it alone is named.
func (p *Panes) title(w int) []span {
	head := []span{own(themes.Strong, "Panes")}
	all := slices.Clone(head)
	short := head
	for i := range p.panes {
		q := &p.panes[i]
		role, sep := themes.Muted, " ─ "
		if i == 0 {
			sep = " · "
		}
		var name []span
		if q.Pane.Pane == p.shown {
			if role = themes.Accent; len(p.panes) > 1 {
				name = append(name, own(role, "▸"))
			}
		}
		sign := p.sign(q, false)
		label := foreign(role, p.name(q))
		if len(p.panes) > 1 {
			label = clip(label, min(nameWidth, max(w-16-spansWidth(sign), 8)))
		}
		name = append(append(name, label...), sign...)
		if q.Pane.Pane == p.shown {
			short = append(slices.Clone(head), own(themes.Border, fmt.Sprintf(" · %d/%d ", i+1, len(p.panes))))
			short = append(short, name...)
		}
		all = append(append(all, own(themes.Border, sep)), name...)
	}
	if spansWidth(all) > w {
		return short
	}
	return all
}

// sign is how the command of a pane goes, after its name.
func (p *Panes) sign(q *paneView, words bool) []span {
	m := q.mark
	switch {
	case q.Lost != "":
		m = mark{"✗", "lost", themes.Warning}
	case m.sign == "":
		return nil
	}
	text := " " + m.sign
	if words {
		text += " " + m.word
	}
	return foreign(m.role, text)
}

// doing says at the right of the border that keys go to the pane, or that its history
// shows; less says so in fewer words.
func (p *Panes) doing() (all, less []span) {
	say := func(role themes.Role, text, less string) ([]span, []span) {
		return []span{own(role, text)}, []span{own(role, less)}
	}
	switch ends := p.endKey() + " ends"; {
	case !p.typing && p.back.on:
		all = p.historyStatus()
		return all, all
	case !p.typing && p.follow.pinned && len(p.panes) > 1:
		return say(themes.Muted, "pinned", "pinned")
	case !p.typing:
		return nil, nil
	case p.asked > 0:
		return say(themes.Warning, waitingSign+" "+plural(p.asked, "approval")+" · "+ends+" typing", waitingSign+" "+plural(p.asked, "approval")+" · "+p.endKey())
	case !slices.Contains([]string{"", runs.sign}, p.selected().mark.sign):
		return say(themes.Warning, "nothing runs here · "+ends+" typing", ends)
	default:
		return say(themes.Warning, "typing · "+ends, ends)
	}
}

// drawGrid draws the page of panes in which the selected one is, each below its name.
func (p *Panes) drawGrid(in area, cols, rows int) {
	per := cols * rows
	first := p.index() / per * per
	for i := range min(per, len(p.panes)-first) {
		q := &p.panes[first+i]
		col, row := i%cols, i/cols
		left, right := col*(in.w+1)/cols, (col+1)*(in.w+1)/cols-1
		top, bottom := row*in.h/rows, (row+1)*in.h/rows
		cell := area{in.down(top).cols(left, right), bottom - top}
		if col > 0 {
			for y := range cell.h {
				in.down(top+y).put(left-1, '│', themes.Border)
			}
		}
		p.drawTileTitle(cell.canvas, q)
		p.drawPane(cell.below(1), q)
	}
}

func (p *Panes) drawTileTitle(c canvas, q *paneView) {
	for x := range c.w {
		c.put(x, '─', themes.Border)
	}
	role, name := themes.Muted, []span(nil)
	if q.Pane.Pane == p.shown {
		role = themes.Accent
		name = append(name, own(role, "▸"))
	}
	sign := p.sign(q, true)
	label := clip(foreign(role, p.name(q)), max(c.w-6-spansWidth(sign), 8))
	name = append(append(name, label...), sign...)
	c.cols(1, c.w-1).spans(0, padded(clip(name, c.w-5))...)
}

// drawPane draws a pane and what is to be said of it.
func (p *Panes) drawPane(in area, q *paneView) {
	for _, line := range p.notes(q) {
		notes := in.inset()
		rows := wrapSpans(line, notes.w)
		if len(rows) >= in.h { // the picture keeps a row
			break
		}
		in.h -= len(rows)
		notes.below(in.h).rows(rows)
	}
	p.tiles = append(p.tiles, tile{q.Pane.Pane, in.x, in.y, in.w, in.h})
	if p.back.on && q.Pane.Pane == p.shown {
		p.back.draw(in)
		return
	}
	p.drawScreen(in, q)
}

// notes are the lines below the picture, the lowest first.
func (p *Panes) notes(q *paneView) [][]span {
	var lines [][]span
	if !p.look.quiet && !p.typing && q.Attach != "" && q.Pane.Pane == p.shown {
		lines = append(lines, append([]span{own(themes.Muted, "attach: ")}, foreign(themes.Code, q.Attach)...))
	}
	if q.Lost != "" {
		lines = append(lines, append([]span{own(themes.Warning, "lost: ")}, foreign(themes.Text, q.Lost)...))
	}
	return lines
}

func (p *Panes) drawScreen(in area, q *paneView) {
	s := q.Screen
	if s == nil {
		in.inset().say(0, "no picture yet", themes.Muted)
		return
	}
	pic := p.pictures[q.Pane.Pane]
	if pic == nil {
		pic = &picture{}
		p.pictures[q.Pane.Pane] = pic
	}
	p.drawCursor(in.terminal(), q, pic.screen(in, s))
}

// drawCursor shows where the cursor of a pane is; while somebody types it is the real one.
func (p *Panes) drawCursor(in area, q *paneView, top int) {
	c := q.Screen.Cursor
	x, y := c.X, c.Y-top
	if !c.Visible || q.Lost != "" || x < 0 || x >= in.w || y < 0 || y >= in.h {
		return
	}
	if p.typing && p.HasFocus() && q.Pane.Pane == p.shown {
		in.screen.ShowCursor(in.x+x, in.y+y)
		return
	}
	row := in.down(y)
	cluster, style, _ := in.screen.Get(row.x+x, row.y)
	row.run([]byte(cluster), x, style.Reverse(true))
}
