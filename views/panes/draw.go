package panes

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
)

// The least size of one of several panes, its title included.
const (
	tileWidth  = 38
	tileHeight = 6
	narrowTile = 20 // in the column
	lowTile    = 4
)

// size is a width and a height in cells.
type size struct{ w, h int }

// What most programs make do with.
const (
	usualWidth  = 80
	usualHeight = 24
)

// nameWidth limits the cells of a name in a tab.
const nameWidth = 24

// tile holds where a pane was drawn.
type tile struct {
	id         string
	x, y, w, h int
}

func (t tile) has(x, y int) bool { return x >= t.x && x < t.x+t.w && y >= t.y && y < t.y+t.h }

// tiles hold where the panes were drawn that show.
type tiles []tile

// of returns the tile of a pane; ok is false if it does not show.
func (all tiles) of(id string) (t tile, ok bool) {
	if i := slices.IndexFunc(all, func(t tile) bool { return t.id == id }); i >= 0 {
		return all[i], true
	}
	return tile{}, false
}

// pictures hold the pictures of the panes that were drawn last, by id.
type pictures map[string]*draw.Picture

// of returns the picture of a pane, a blank one for a pane that did not show.
func (all pictures) of(id string) *draw.Picture {
	pic := all[id]
	if pic == nil {
		pic = &draw.Picture{}
		all[id] = pic
	}
	return pic
}

// keep drops the pictures of panes that do not show.
func (all pictures) keep(shown tiles) {
	for id := range all {
		if _, ok := shown.of(id); !ok {
			delete(all, id)
		}
	}
}

// paneFit holds the size that a pane was given; the zero paneFit is none.
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
	p.follow.see(p.list.shown)
	_, _, w, h := p.GetRect()
	cols, rows := p.look.grid(len(p.list.panes), w-2, h-2)
	several := cols*rows > 1
	left, right := p.heads(w - 6) // before the tiles are forgotten, whose rows they speak of
	_, less := p.doing()
	p.tiles, p.dividers = p.tiles[:0], p.dividers[:0]
	if several {
		p.drawGrid(p.Whole(screen), cols, rows, less)
		p.pictures.keep(p.tiles)
		p.fitTo(p.wantedFit(several))
		return
	}
	in := p.Bordered(screen, draw.Titles{Left: left, Right: right}).Cleared()
	if in.W <= 0 || in.H <= 0 {
		p.Hide()
		return
	}
	if p.list.index() < 0 {
		p.Hide()
		in.Inset().Say(0, "nothing runs", themes.Muted)
		return
	}
	p.drawPane(in, p.list.selected())
	p.pictures.keep(p.tiles)
	p.fitTo(p.wantedFit(several))
}

// grid returns how many of n panes show beside and below each other in w×h cells: all of them in
// the way that shows most of each, else as many as have room.
func (look paneLook) grid(n, w, h int) (cols, rows int) {
	least := size{tileWidth, tileHeight}
	if !look.zoomed { // in the column a few words of each are better than one of them
		least = size{narrowTile, lowTile}
	}
	maxCols, maxRows := min(n, (w+1)/(least.w+1)), min(n, h/least.h)
	if !look.wantsGrid() || maxCols < 1 || maxRows < 1 {
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

// wantedFit returns the size for a pane that somebody types into or looks at alone.
func (p *Panes) wantedFit(several bool) paneFit {
	q := p.list.selected()
	if q.bare() || q.Lost != "" || p.back.on || !p.typing && (!p.look.zoomed || several) {
		return paneFit{}
	}
	if t, ok := p.tiles.of(p.list.shown); ok && t.w > 1 && t.h > 1 {
		return paneFit{t.id, t.w, t.h}
	}
	return paneFit{}
}

// heads returns what the border says in w cells: the names of the panes, and what is done with
// the selected one. Of that a few words must do where its name would not show.
func (p *Panes) heads(w int) (left, right []draw.Span) {
	right, less := p.doing()
	if len(right) == 0 {
		return p.list.title(w), nil
	}
	if q := p.list.selected(); q != nil && w-draw.Width(right)-3 < draw.TextWidth("10/10 ▸ ●")+draw.Width(draw.Untrusted(themes.Text, p.list.name(q))) {
		right = less
	}
	return p.list.title(w - draw.Width(right) - 3), right
}

// doing returns the text at the right of the border: that keys go to the pane, or its history
// shows; less says so in fewer words.
func (p *Panes) doing() (all, less []draw.Span) {
	say := func(role themes.Role, text, less string) ([]draw.Span, []draw.Span) {
		return []draw.Span{draw.Text(role, text)}, []draw.Span{draw.Text(role, less)}
	}
	switch ends := p.endKey() + " ends"; {
	case !p.typing && p.back.on:
		all = p.back.status(p.tiles.rows(p.list.shown), p.Keys.Name(keymap.ScrollBottom))
		return all, all
	case !p.typing && p.follow.pinned && len(p.list.panes) > 1:
		took := p.list.selected().took(p.follow.now())
		return say(themes.Muted, strings.TrimSuffix("pinned · "+took, " · "), "pinned")
	case !p.typing:
		if took := p.list.selected().took(p.follow.now()); took != "" {
			return say(themes.Muted, took, took)
		}
		return nil, nil
	case p.asked > 0:
		return say(themes.Warning, draw.WaitingSign+" "+texts.Plural(p.asked, "approval")+" · "+ends+" typing", draw.WaitingSign+" "+texts.Plural(p.asked, "approval")+" · "+p.endKey())
	case !slices.Contains([]string{"", runs.sign, stays.sign}, p.list.selected().run.sign):
		return say(themes.Warning, "nothing runs here · "+ends+" typing", ends)
	default:
		return say(themes.Warning, "typing · "+ends, ends)
	}
}

// drawGrid draws the page of panes in which the selected one is, each in a box. Neighbours share their edges.
// doing says what is done with the selected one.
func (p *Panes) drawGrid(all draw.Area, cols, rows int, doing []draw.Span) {
	per := cols * rows
	first := p.list.index() / per * per
	role := themes.Border
	if p.HasFocus() {
		role = themes.Focus
	}
	for i := range per {
		col, row := i%cols, i/cols
		left, right := col*(all.W-1)/cols, (col+1)*(all.W-1)/cols
		top, bottom := row*(all.H-1)/rows, (row+1)*(all.H-1)/rows
		box := draw.Area{Canvas: all.Down(top).Cols(left, right+1), H: bottom - top + 1}
		var q *paneView
		if first+i < len(p.list.panes) {
			q = &p.list.panes[first+i]
		}
		p.drawBox(box, q, role, doing)
		if row == rows-1 && col > 0 {
			p.dividers = append(p.dividers, box.X)
		}
		for _, j := range [4][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}} { // its corners
			all.Down(top+j[1]*(bottom-top)).Put(left+j[0]*(right-left), corner(col+j[0], row+j[1], cols, rows), role)
		}
	}
}

// corner returns the character where lines of a grid meet.
func corner(col, row, cols, rows int) rune {
	at := func(n, last int) int {
		switch n {
		case 0:
			return 0
		case last:
			return 2
		}
		return 1
	}
	return [3][3]rune{{'┌', '┬', '┐'}, {'├', '┼', '┤'}, {'└', '┴', '┘'}}[at(row, rows)][at(col, cols)]
}

// drawBox draws a pane of a grid with its border, nil for none.
func (p *Panes) drawBox(box draw.Area, q *paneView, role themes.Role, doing []draw.Span) {
	var name []draw.Span
	if q == nil {
		doing = nil
	} else {
		if name = p.list.tag(q, true, box.W, box.W); draw.Width(name)+6 > box.W {
			name = p.list.tag(q, false, box.W-8, box.W)
		}
		if took := q.took(p.follow.now()); q.Pane.Pane != p.list.shown {
			doing = []draw.Span{draw.Text(themes.Muted, took)}
		}
		if draw.Width(name)+draw.Width(doing)+9 > box.W && !p.typing {
			doing = nil
		}
	}
	box.Edge('─', '─', role, name, doing)
	box.Down(box.H-1).Edge('─', '─', role, nil, nil)
	for y := 1; y < box.H-1; y++ {
		box.Down(y).Put(0, '│', role)
		box.Down(y).Put(box.W-1, '│', role)
	}
	in := draw.Area{Canvas: box.Down(1).Cols(1, box.W-1), H: box.H - 2}.Cleared()
	if q != nil {
		p.drawPane(in, q)
	}
}

// drawPane draws a pane and what is to be said of it.
func (p *Panes) drawPane(in draw.Area, q *paneView) {
	for _, line := range p.notes(q) {
		notes := in.Inset()
		rows := draw.WrapWhole(line, notes.W)
		if len(rows) >= in.H { // the picture keeps a row
			break
		}
		in.H -= len(rows)
		notes.Below(in.H).Rows(rows)
	}
	p.tiles = append(p.tiles, tile{q.Pane.Pane, in.X, in.Y, in.W, in.H})
	if p.back.on && q.Pane.Pane == p.list.shown {
		p.back.draw(in)
		return
	}
	if q.bare() {
		p.printed.DrawIn(in)
		return
	}
	p.drawScreen(in, q)
}

// notes returns the lines below the picture, the lowest first.
func (p *Panes) notes(q *paneView) [][]draw.Span {
	var lines [][]draw.Span
	if p.attach.shows() && !p.typing && q.Attach != "" && q.Pane.Pane == p.list.shown {
		lines = append(lines, append([]draw.Span{draw.Text(themes.Muted, "attach: ")}, draw.Untrusted(themes.Code, q.Attach)...))
	}
	if q.Lost != "" {
		lines = append(lines, append([]draw.Span{draw.Text(themes.Warning, "lost: ")}, draw.Untrusted(themes.Text, q.Lost)...))
	}
	return lines
}

func (p *Panes) drawScreen(in draw.Area, q *paneView) {
	s := q.Screen
	if s == nil {
		in.Inset().Say(0, "no picture yet", themes.Muted)
		return
	}
	p.drawCursor(in.Terminal(), q, p.pictures.of(q.Pane.Pane).Screen(in, s))
}

// drawCursor shows where the cursor of a pane is; while somebody types it is the real one.
func (p *Panes) drawCursor(in draw.Area, q *paneView, top int) {
	c := q.Screen.Cursor
	x, y := c.X, c.Y-top
	if !c.Visible || q.Lost != "" || x < 0 || x >= in.W || y < 0 || y >= in.H {
		return
	}
	if p.typing && p.HasFocus() && q.Pane.Pane == p.list.shown {
		in.Screen.ShowCursor(in.X+x, in.Y+y)
		return
	}
	row := in.Down(y)
	cluster, style, _ := in.Screen.Get(row.X+x, row.Y)
	row.Run([]byte(cluster), x, style.Reverse(true))
}
