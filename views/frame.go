package views

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
)

// frame is what the views have in common: their place, colours and keys.
type frame struct {
	*tview.Box
	palette *palette
	keys    *keymap.Map
	spots   []keySpot // of the last draw
}

func newFrame(theme *themes.Theme, keys *keymap.Map) frame {
	return frame{Box: tview.NewBox(), palette: newPalette(theme), keys: keys}
}

// SetTheme changes the colours from the next draw on.
func (f *frame) SetTheme(theme *themes.Theme) { f.palette = newPalette(theme) }

// whole returns the place of the view, of which nothing is drawn yet.
func (f *frame) whole(screen tcell.Screen) area {
	f.spots = f.spots[:0]
	return f.drawn(screen)
}

// drawn returns the place of the view, of which something is drawn already.
func (f *frame) drawn(screen tcell.Screen) area {
	x, y, w, h := f.GetRect()
	return area{canvas{screen, f.palette, &f.spots, x, y, max(w, 0)}, max(h, 0)}
}

// titles are what a border says: at the left and the right of its upper edge, and at the
// right of its lower one.
type titles struct{ left, right, bottom []span }

// bordered draws the border and returns what is inside, which it does not draw.
func (f *frame) bordered(screen tcell.Screen, t titles) area {
	all := f.whole(screen)
	if all.w < 2 || all.h < 2 {
		return area{all.cols(0, 0), 0}
	}
	role := themes.Border
	if f.HasFocus() {
		role = themes.Focus
	}
	all.edge('┌', '┐', role, t.left, t.right)
	all.down(all.h-1).edge('└', '┘', role, nil, t.bottom)
	for y := 1; y < all.h-1; y++ {
		row := all.down(y)
		row.put(0, '│', role)
		row.put(row.w-1, '│', role)
	}
	return area{all.down(1).cols(1, all.w-1), all.h - 2}
}

// edge draws the upper or lower border with its titles. The left one gives way to the
// right one, which is left out where there is no room for it.
func (c canvas) edge(first, last rune, role themes.Role, left, right []span) {
	for i := 1; i < c.w-1; i++ {
		c.put(i, '─', role)
	}
	c.put(0, first, role)
	c.put(c.w-1, last, role)
	room := c.w - 4
	if n := spansWidth(right); n > 0 && n+2 <= room {
		c.cols(c.w-n-4, c.w-2).spans(0, padded(right)...)
		room -= n + 3
	}
	if len(left) > 0 && room > 4 {
		c.cols(2, 2+room).spans(0, padded(clip(left, room-2))...)
	}
}

func padded(spans []span) []span {
	blank := own(themes.Text, " ")
	return append(append([]span{blank}, spans...), blank)
}
