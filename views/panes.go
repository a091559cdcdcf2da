package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
	"github.com/rivo/uniseg"

	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
)

// Panes draws one terminal pane of the session as tmux captured it, with the others as
// tabs. It never resizes a pane: it shows the rows around the cursor and says with › that
// more is at the right (DECISIONS 18).
type Panes struct {
	frame
	panes  []state.Pane
	shown  string // id of the pane that shows; the last opened until one is chosen
	chosen bool
	attach bool // the line that says how to attach shows

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
	head := []span{p.span(themes.Strong, "Panes")}
	all := slices.Clone(head)
	short := head
	for i, q := range p.panes {
		name, role, sep := p.name(&q), themes.Muted, " ─ "
		if i == 0 {
			sep = " · "
		}
		if q.Pane == p.shown {
			role = themes.Accent
			short = append(slices.Clone(head), p.span(themes.Border, fmt.Sprintf(" · %d/%d ", i+1, len(p.panes))))
			short = append(short, p.foreign(role, name)...)
			if len(p.panes) > 1 {
				name += " ●"
			}
		}
		all = append(append(all, p.span(themes.Border, sep)), p.foreign(role, name)...)
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
	x, y, w, h := p.bordered(screen, p.title(w-6), nil)
	i := p.index()
	if w <= 0 || h <= 0 {
		return
	}
	if i < 0 {
		drawSpans(screen, x+1, y, w-1, p.span(themes.Muted, "none yet; the first command opens one"))
		return
	}
	q := &p.panes[i]
	for _, line := range p.notes(q) {
		rows := wrapSpans(line, w-1)
		if len(rows) >= h { // the picture keeps a row
			break
		}
		for j, r := range rows {
			drawSpans(screen, x+1, y+h-len(rows)+j, w-1, r...)
		}
		h -= len(rows)
	}
	p.drawScreen(screen, q, x, y, w, h)
}

// notes are the lines below the picture, the lowest first.
func (p *Panes) notes(q *state.Pane) [][]span {
	var lines [][]span
	if p.attach && q.Attach != "" {
		lines = append(lines, append([]span{p.span(themes.Muted, "attach: ")}, p.foreign(themes.Code, q.Attach)...))
	}
	if q.Lost != "" {
		lines = append(lines, append([]span{p.span(themes.Warning, "lost: ")}, p.foreign(themes.Text, q.Lost)...))
	}
	return lines
}

func (p *Panes) drawScreen(screen tcell.Screen, q *state.Pane, x, y, w, h int) {
	s := q.Screen
	if s == nil {
		drawSpans(screen, x+1, y, w-1, p.span(themes.Muted, "no picture yet"))
		return
	}
	top := max(0, min(s.Cursor.Y-h+1, len(s.Rows)-1))
	for i := range min(h, len(s.Rows)-top) {
		p.drawPaneRow(screen, s.Rows[top+i], x, y+i, w)
	}
	cx, cy := s.Cursor.X, s.Cursor.Y-top
	if s.Cursor.Visible && q.Lost == "" && cx < w && cy >= 0 && cy < h {
		cluster, style, width := screen.Get(x+cx, y+cy)
		drawCluster(screen, x+cx, y+cy, cluster, width, style.Reverse(true))
	}
}

// drawPaneRow draws a captured row; › in the last column says that it goes on.
func (p *Panes) drawPaneRow(screen tcell.Screen, text string, x, y, w int) {
	spans := parseSGR(strings.TrimRight(text, " "))
	used := drawSpans(screen, x, y, w, spans...)
	if total := spansWidth(spans); total > used && !blankFrom(spans, used) {
		drawSpans(screen, x+w-1, y, 1, p.span(themes.Muted, "›"))
	}
}

// blankFrom says that only spaces follow after so many cells.
func blankFrom(spans []span, cells int) bool {
	for _, sp := range spans {
		n := uniseg.StringWidth(sp.text)
		if n <= cells {
			cells -= n
			continue
		}
		rest := sp.text[len(cutWidth(sp.text, cells)):]
		if strings.TrimSpace(rest) != "" {
			return false
		}
		cells = 0
	}
	return true
}
