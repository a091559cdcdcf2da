package views

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
	"github.com/rivo/uniseg"

	"buddy/app/keymap"
	"buddy/themes"
)

// frame is what the views here have in common.
type frame struct {
	*tview.Box
	palette *palette
	keys    *keymap.Map
}

func newFrame(theme *themes.Theme, keys *keymap.Map) frame {
	box := tview.NewBox()
	box.SetBackgroundColor(tcell.ColorDefault)
	return frame{box, newPalette(theme), keys}
}

// SetTheme changes the colours from the next draw on.
func (f *frame) SetTheme(theme *themes.Theme) { f.palette = newPalette(theme) }

func (f *frame) style(r themes.Role) tcell.Style { return f.palette[r] }

// span returns text of ours in a role's style.
func (f *frame) span(r themes.Role, text string) span { return span{text, f.style(r)} }

// foreign returns untrusted text in a role's style, with its hidden characters shown.
func (f *frame) foreign(r themes.Role, text string) []span {
	return sanitiseSpans(text, f.style(r), f.style(themes.Control))
}

// bordered draws the border with a title at the left and one at the right and returns
// what is inside. The left title gives way to the right one.
func (f *frame) bordered(screen tcell.Screen, left, right []span) (x, y, w, h int) {
	f.DrawForSubclass(screen, f)
	x, y, w, h = f.GetRect()
	if w < 2 || h < 2 {
		return x, y, 0, 0
	}
	line := f.style(themes.Border)
	if f.HasFocus() {
		line = f.style(themes.Focus)
	}
	bar := strings.Repeat("─", w-2)
	drawSpans(screen, x, y, w, span{"┌" + bar + "┐", line})
	drawSpans(screen, x, y+h-1, w, span{"└" + bar + "┘", line})
	for row := y + 1; row < y+h-1; row++ {
		screen.SetContent(x, row, '│', nil, line)
		screen.SetContent(x+w-1, row, '│', nil, line)
	}
	room := w - 4
	if n := spansWidth(right); n > 0 && n+2 <= room {
		drawSpans(screen, x+w-n-4, y, n+2, padded(right, line)...)
		room -= n + 3
	}
	if len(left) > 0 && room > 4 {
		drawSpans(screen, x+2, y, room, padded(clipSpans(left, room-2), line)...)
	}
	return x + 1, y + 1, w - 2, h - 2
}

func padded(spans []span, style tcell.Style) []span {
	blank := span{" ", style}
	return append(append([]span{blank}, spans...), blank)
}

// drawSpans draws spans from x on in at most w cells and returns the cells used. Text
// must be sanitised.
func drawSpans(screen tcell.Screen, x, y, w int, spans ...span) int {
	used := 0
	for _, sp := range spans {
		text, state := sp.text, -1
		for text != "" {
			var cluster string
			var width int
			cluster, text, width, state = uniseg.FirstGraphemeClusterInString(text, state)
			if used+width > w {
				return used
			}
			drawCluster(screen, x+used, y, cluster, width, sp.style)
			used += width
		}
	}
	return used
}

// drawCluster draws one grapheme cluster; the cells behind a wide one become blank.
func drawCluster(screen tcell.Screen, x, y int, cluster string, width int, style tcell.Style) {
	if width == 0 {
		return
	}
	for i := width - 1; i > 0; i-- {
		screen.SetContent(x+i, y, ' ', nil, style)
	}
	runes := []rune(cluster)
	screen.SetContent(x, y, runes[0], runes[1:], style)
}

func spansWidth(spans []span) int {
	w := 0
	for _, sp := range spans {
		w += uniseg.StringWidth(sp.text)
	}
	return w
}

// clipSpans shortens spans to w cells; … says that something is missing.
func clipSpans(spans []span, w int) []span {
	if spansWidth(spans) <= w {
		return spans
	}
	var kept []span
	free := w - 1
	for _, sp := range spans {
		n := uniseg.StringWidth(sp.text)
		if n < free {
			kept = append(kept, sp)
			free -= n
			continue
		}
		return append(kept, span{cutWidth(sp.text, free) + "…", sp.style})
	}
	return kept
}

// cutWidth returns as much of text as fits into w cells.
func cutWidth(text string, w int) string {
	rest, state, used := text, -1, 0
	for rest != "" {
		var width int
		var next string
		_, next, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+width > w {
			break
		}
		used, rest = used+width, next
	}
	return text[:len(text)-len(rest)]
}

// wrapSpans breaks spans into rows of at most w cells.
func wrapSpans(spans []span, w int) [][]span {
	w = max(w, 2)
	rows := [][]span{nil}
	used := 0
	for _, sp := range spans {
		for text := sp.text; text != ""; {
			part := cutWidth(text, w-used)
			if part == "" {
				rows, used = append(rows, nil), 0
				if part = cutWidth(text, w); part == "" {
					break // no cluster is wider than a row
				}
			}
			last := len(rows) - 1
			rows[last] = append(rows[last], span{part, sp.style})
			used += uniseg.StringWidth(part)
			text = text[len(part):]
		}
	}
	return rows
}

// drawEditorRow draws one row of an editor's text, the first accent bytes emphasised.
func (f *frame) drawEditorRow(screen tcell.Screen, e *Editor, r row, x, y, w, accent int) {
	l := e.wrapped(r.line, r.n+2)
	i, end := l.rows[r.n], len(l.text)
	if r.n+1 < len(l.rows) {
		end = l.rows[r.n+1]
	}
	for col := 0; i < end && col < w; {
		g := e.glyph(l.text, i, col)
		role := themes.Text
		switch {
		case g.hostile:
			role = themes.Control
		case g.chip || i < accent:
			role = themes.Accent
		}
		drawSpans(screen, x+col, y, w-col, f.span(role, g.text))
		i, col = g.end, col+g.width
	}
}
