package views

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/markup"
)

// Panes draws one terminal pane of the session as tmux captured it, with the others as
// tabs. It never resizes a pane: it shows the rows around the cursor and says with › that
// more is at the right (DECISIONS 18).
type Panes struct {
	frame
	panes   []state.Pane
	shown   string // id of the pane that shows; the last opened until one is chosen
	chosen  bool
	attach  bool // the line that says how to attach shows
	picture picture

	OnShow func(id string) // another pane shows; "" is none
	OnZoom func()          // full screen and back
}

// NewPanes returns a view without panes.
func NewPanes(theme *themes.Theme, keys *keymap.Map) *Panes {
	return &Panes{frame: newFrame(theme, keys)}
}

// Scope says where keys go.
func (p *Panes) Scope() keymap.Scope { return keymap.Panes }

// Shown returns the id of the pane that shows, "" if there is none.
func (p *Panes) Shown() string { return p.shown }

// Len counts the panes.
func (p *Panes) Len() int { return len(p.panes) }

// Update takes over what changed. Pictures are not copied; the state replaces them and
// never changes one.
func (p *Panes) Update(s *state.State, ch state.Changed) {
	if ch&state.Panes == 0 {
		return
	}
	p.panes = p.panes[:0]
	for _, q := range s.Panes {
		p.panes = append(p.panes, *q)
	}
	if p.index() < 0 {
		p.chosen = false
	}
	if !p.chosen {
		p.show(p.newest())
	}
}

// newest is the pane opened last that is not lost, else the last one.
func (p *Panes) newest() string {
	for _, q := range slices.Backward(p.panes) {
		if q.Lost == "" {
			return q.Pane
		}
	}
	if n := len(p.panes); n > 0 {
		return p.panes[n-1].Pane
	}
	return ""
}

func (p *Panes) index() int {
	return slices.IndexFunc(p.panes, func(q state.Pane) bool { return q.Pane == p.shown })
}

func (p *Panes) show(id string) {
	if id == p.shown {
		return
	}
	p.shown = id
	if p.OnShow != nil {
		p.OnShow(id)
	}
}

// InputHandler goes from pane to pane and shows how to attach.
func (p *Panes) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return p.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		a, _ := p.keys.Lookup(keymap.Panes, ev)
		switch a {
		case keymap.PaneNext:
			p.step(1)
		case keymap.PanePrevious:
			p.step(-1)
		case keymap.PaneAttach:
			p.attach = !p.attach
		case keymap.Zoom:
			if p.OnZoom != nil {
				p.OnZoom()
			}
		}
	})
}

func (p *Panes) step(by int) {
	if n := len(p.panes); n > 0 {
		p.chosen = true
		p.show(p.panes[(p.index()+by+n)%n].Pane)
	}
}

// title is the names of the panes in at most w cells. ● marks the one that shows; when
// not all fit, it alone is named.
func (p *Panes) title(w int) []span {
	head := []span{own(themes.Strong, "Panes")}
	all := slices.Clone(head)
	short := head
	for i, q := range p.panes {
		name, role, sep := p.name(&q), themes.Muted, " ─ "
		if i == 0 {
			sep = " · "
		}
		if q.Pane == p.shown {
			role = themes.Accent
			short = append(slices.Clone(head), own(themes.Border, fmt.Sprintf(" · %d/%d ", i+1, len(p.panes))))
			short = append(short, foreign(role, name)...)
			if len(p.panes) > 1 {
				name += " ●"
			}
		}
		all = append(append(all, own(themes.Border, sep)), foreign(role, name)...)
	}
	if spansWidth(all) > w {
		return short
	}
	return all
}

// name is a pane's title with where it is, if that is elsewhere, and ✗ if it is lost.
func (p *Panes) name(q *state.Pane) string {
	name := oneLine(q.Title)
	if q.Target != "" && q.Target != "local" {
		name = q.Target + ":" + name
	}
	if q.Lost != "" {
		name += " ✗"
	}
	return name
}

// Draw draws the pane that shows.
func (p *Panes) Draw(screen tcell.Screen) {
	_, _, w, _ := p.GetRect()
	in := p.bordered(screen, titles{left: p.title(w - 6)}).cleared()
	i := p.index()
	if in.w <= 0 || in.h <= 0 {
		return
	}
	if i < 0 {
		in.inset().say(0, "none yet; the first command opens one", themes.Muted)
		return
	}
	q := &p.panes[i]
	for _, line := range p.notes(q) {
		notes := in.inset()
		rows := wrapSpans(line, notes.w)
		if len(rows) >= in.h { // the picture keeps a row
			break
		}
		in.h -= len(rows)
		notes.below(in.h).rows(rows)
	}
	p.drawScreen(in, q)
}

// notes are the lines below the picture, the lowest first.
func (p *Panes) notes(q *state.Pane) [][]span {
	var lines [][]span
	if p.attach && q.Attach != "" {
		lines = append(lines, append([]span{own(themes.Muted, "attach: ")}, foreign(themes.Code, q.Attach)...))
	}
	if q.Lost != "" {
		lines = append(lines, append([]span{own(themes.Warning, "lost: ")}, foreign(themes.Text, q.Lost)...))
	}
	return lines
}

func (p *Panes) drawScreen(in area, q *state.Pane) {
	s := q.Screen
	if s == nil {
		in.inset().say(0, "no picture yet", themes.Muted)
		return
	}
	p.picture.read(s)
	colours := *p.palette
	colours[themes.Text] = tcell.StyleDefault // what the programs in it take for granted
	in.palette = &colours
	top := max(0, min(s.Cursor.Y-in.h+1, len(s.Rows)-1))
	for i := range min(in.h, len(s.Rows)-top) {
		p.picture.draw(in.down(i), top+i)
	}
	cx, cy := s.Cursor.X, s.Cursor.Y-top
	if s.Cursor.Visible && q.Lost == "" && cx >= 0 && cx < in.w && cy >= 0 && cy < in.h {
		row := in.down(cy)
		cluster, style, _ := in.screen.Get(row.x+cx, row.y)
		row.run([]byte(cluster), cx, style.Reverse(true))
	}
}

// picture is what tmux captured, as text. The rows are one stream: a row goes on with
// the colours and the character set that the row before ended with.
type picture struct {
	of   *event.PaneScreen
	text markup.Text
	ends []int // where each row ends; a newline follows
}

// read makes the picture that of a screen.
func (p *picture) read(s *event.PaneScreen) {
	if p.of == s {
		return
	}
	w := markup.Writer{Terminal: true, Drawing: true}
	p.of, p.ends = s, p.ends[:0]
	for _, row := range s.Rows {
		w.Write([]byte(row))
		p.ends = append(p.ends, len(w.Text.Bytes))
		w.Write([]byte("\n"))
	}
	p.text = w.Text
}

// draw draws a row; › in the last column says that it goes on.
func (p *picture) draw(c canvas, row int) {
	from, to := 0, p.ends[row]
	if row > 0 {
		from = p.ends[row-1] + 1
	}
	if markup.Width(bytes.TrimRight(p.text.Bytes[from:to], " ")) > c.w {
		c.say(c.w-1, "›", themes.Muted)
		c.w--
	}
	c.text(&p.text, from, to)
}
