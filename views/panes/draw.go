package panes

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/texts"
	"buddy/texts/ansi"
	"buddy/themes"
	"buddy/views/draw"
)

// nameWidth limits the width of a name in a tab, in cells.
const nameWidth = 24

// tile is the place of a drawn pane.
type tile struct {
	id         string
	x, y, w, h int
}

func (t tile) has(x, y int) bool { return x >= t.x && x < t.x+t.w && y >= t.y && y < t.y+t.h }

// tiles are the places of the drawn panes.
type tiles []tile

// of returns the tile of a pane; ok is false if it is not visible.
func (all tiles) of(id string) (t tile, ok bool) {
	if i := slices.IndexFunc(all, func(t tile) bool { return t.id == id }); i >= 0 {
		return all[i], true
	}
	return tile{}, false
}

// pictures holds the pictures of the drawn panes, by id.
type pictures map[string]*draw.Picture

// of returns the picture of a pane, a blank one if it was not visible.
func (all pictures) of(id string) *draw.Picture {
	pic := all[id]
	if pic == nil {
		pic = &draw.Picture{}
		all[id] = pic
	}
	return pic
}

// keep drops the pictures of invisible panes.
func (all pictures) keep(shown tiles) {
	for id := range all {
		if _, ok := shown.of(id); !ok {
			delete(all, id)
		}
	}
}

// paneFit is the size requested for a pane.
type paneFit struct {
	id   string
	w, h int
}

// fits reports whether a pane can be resized to its tile.
func (q *paneView) fits(t tile) bool {
	return q != nil && !q.bare() && q.Lost == "" && t.w > 1 && t.h > 1
}

// fit calls OnFit for panes that need another size: visible panes get the size of their tile if p.fits is set or a
// person types into them; others get their original size back.
func (p *Panes) fit() {
	if p.OnFit == nil {
		return
	}
	var fits []paneFit
	for _, t := range p.tiles {
		selected := t.id == p.list.shown
		if q := p.list.get(t.id); q.fits(t) && (p.fits || selected && p.typing) && (!selected || !p.back.on) {
			fits = append(fits, paneFit{t.id, t.w, t.h})
		}
	}
	for _, old := range p.fitted {
		if !slices.ContainsFunc(fits, func(f paneFit) bool { return f.id == old.id }) {
			p.OnFit(old.id, 0, 0)
		}
	}
	for _, f := range fits {
		if !slices.Contains(p.fitted, f) {
			p.OnFit(f.id, f.w, f.h)
		}
	}
	p.fitted = fits
}

// Draw draws the selected pane, or as many panes as have room.
func (p *Panes) Draw(screen tcell.Screen) {
	p.followCommands()
	p.follow.see(p.list.shown)
	_, _, w, _ := p.GetRect()
	left, right := p.heads(w - 6) // heads uses the tiles, which are reset below
	_, less := p.doing()
	p.tiles = p.tiles[:0]
	if len(p.boxes) > 0 && p.list.index() >= 0 {
		p.drawBoxes(p.Whole(screen), less)
	} else {
		in := p.Bordered(screen, draw.Titles{Left: left, Right: right}).Cleared()
		switch {
		case in.W <= 0 || in.H <= 0:
		case p.list.index() < 0:
			in.Inset().Say(0, "Nothing is running", themes.Muted)
		default:
			p.drawPane(in, p.list.selected())
		}
	}
	p.pictures.keep(p.tiles)
	p.fit()
}

// heads returns the titles of the border in w cells: the names of the panes, and the state of the selected one. The
// state is shortened if the pane's name would not be visible.
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

// doing returns the text on the right of the border: the elapsed time, whether keys go to the pane, or the position in
// its history. less is a shorter form.
func (p *Panes) doing() (all, less []draw.Span) {
	title := func(role themes.Role, text, less string) ([]draw.Span, []draw.Span) {
		return []draw.Span{draw.Text(role, text)}, []draw.Span{draw.Text(role, less)}
	}
	switch ends := p.endKey() + " ends"; {
	case !p.typing && p.back.on:
		all = p.back.status(p.tiles.rows(p.list.shown), p.Keys.Name(keymap.ScrollBottom))
		return all, all
	case !p.typing && p.follow.pinned && len(p.list.panes) > 1:
		elapsed := p.list.selected().elapsed(p.follow.now())
		return title(themes.Muted, strings.TrimSuffix("pinned · "+elapsed, " · "), "pinned")
	case !p.typing:
		if elapsed := p.list.selected().elapsed(p.follow.now()); elapsed != "" {
			return title(themes.Muted, elapsed, elapsed)
		}
		return nil, nil
	case p.asked > 0:
		return title(themes.Warning, draw.WaitingSign+" "+texts.Plural(p.asked, "approval")+" · "+ends+" typing", draw.WaitingSign+" "+texts.Plural(p.asked, "approval")+" · "+p.endKey())
	case !slices.Contains([]string{"", runs.sign, stays.sign}, p.list.selected().run.sign):
		return title(themes.Warning, "nothing is running here · "+ends+" typing", ends)
	default:
		return title(themes.Warning, "typing · "+ends, ends)
	}
}

// drawBoxes draws several panes, including the selected one. doing describes the state of the selected pane. The last
// box also names the panes without a box.
func (p *Panes) drawBoxes(all draw.Area, doing []draw.Span) {
	shown := p.list.best(len(p.boxes))
	var others []draw.Span
	for i := range p.list.panes {
		if q := &p.list.panes[i]; !slices.Contains(shown, q) {
			others = append(append(others, draw.Text(themes.Border, " ─ ")), p.list.tag(q, false, nameWidth, nameWidth)...)
		}
	}
	for i, box := range p.boxes {
		area := draw.Area{Canvas: all.Down(box.Y-all.Y).Cols(box.X-all.X, box.X-all.X+box.W), H: box.H}
		switch {
		case i >= len(shown): // a pane has closed since the layout
			p.drawBox(area, nil, nil, nil)
		case i == len(shown)-1:
			p.drawBox(area, shown[i], others, doing)
		default:
			p.drawBox(area, shown[i], nil, doing)
		}
	}
}

// drawBox draws a border and in it one of several panes, or nothing if q is nil.
func (p *Panes) drawBox(box draw.Area, q *paneView, others, doing []draw.Span) {
	role := themes.Border
	if p.HasFocus() {
		role = themes.Focus
	}
	var name []draw.Span
	if q == nil {
		doing = nil
	} else {
		name, doing = p.boxTitle(q, others, doing, box.W)
	}
	box.Edge('┌', '┐', role, name, doing)
	box.Down(box.H-1).Edge('└', '┘', role, nil, nil)
	for y := 1; y < box.H-1; y++ {
		box.Down(y).Put(0, '│', role)
		box.Down(y).Put(box.W-1, '│', role)
	}
	in := draw.Area{Canvas: box.Down(1).Cols(1, box.W-1), H: box.H - 2}.Cleared()
	if q != nil {
		p.drawPane(in, q)
	}
}

// boxTitle returns the titles of a box in w cells. On the left are the name of its pane and the names of others. The
// right title is doing for the selected pane, and the time of the command for any other pane. Titles that do not fit
// are shortened or omitted.
func (p *Panes) boxTitle(q *paneView, others, doing []draw.Span, w int) (left, right []draw.Span) {
	if elapsed := q.elapsed(p.follow.now()); q.Pane.Pane != p.list.shown {
		doing = []draw.Span{draw.Text(themes.Muted, elapsed)}
	}
	short := p.list.tag(q, false, w-8, w)
	for _, name := range [][]draw.Span{append(p.list.tag(q, true, w, w), others...), append(slices.Clip(short), others...)} {
		if draw.Width(name)+draw.Width(doing)+9 <= w {
			return name, doing
		}
	}
	if draw.Width(short)+draw.Width(doing)+9 > w && !p.typing {
		doing = nil
	}
	return short, doing
}

// drawPane draws a pane and the notes about it.
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
		lines = append(lines, append([]draw.Span{draw.Text(themes.Muted, "attach: ")}, draw.Untrusted(themes.Muted, q.Attach)...))
	}
	if q.Lost != "" {
		lines = append(lines, append([]draw.Span{draw.Text(themes.Warning, "closed: ")}, draw.Untrusted(themes.Text, q.Lost)...))
	}
	return lines
}

func (p *Panes) drawScreen(in draw.Area, q *paneView) {
	s := q.Screen
	if s == nil {
		in.Inset().Say(0, "No output yet", themes.Muted)
		return
	}
	p.drawCursor(in.Terminal(), q, p.pictures.of(q.Pane.Pane).Screen(in, s, q.first()))
}

// first returns the row of the picture where the pane's command starts, or 0 if unknown. The conversation shows the
// rows above it.
func (q *paneView) first() int {
	if q.run.call == nil || q.run.call.Action.Command == "" {
		return 0
	}
	line, _, _ := strings.Cut(q.run.call.Action.Command, "\n")
	for i, row := range slices.Backward(q.Screen.Rows[:min(q.Screen.Cursor.Y+1, len(q.Screen.Rows))]) {
		if !strings.Contains(row, "$") {
			continue
		}
		shown, prompted := strings.CutPrefix(strings.TrimRight(ansi.Strip(row), " "), "$ ")
		if prompted && (shown == line || len(shown)+2 >= q.Screen.W && strings.HasPrefix(line, shown)) {
			return i
		}
	}
	return 0
}

// drawCursor draws the cursor of a pane. While a person types, the screen's cursor is used.
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
