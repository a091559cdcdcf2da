package draw

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
)

// Frame holds the common parts of views: place, colours and keys.
type Frame struct {
	*tview.Box
	Palette   *Palette
	Keys      *keymap.Map
	clickable []clickableKey // of the last draw
	ruled     bool           // the last draw was Ruled, without sides
}

// NewFrame returns the frame of a view.
func NewFrame(theme *themes.Theme, keys *keymap.Map) Frame {
	return Frame{Box: tview.NewBox(), Palette: newPalette(theme), Keys: keys}
}

// SetTheme changes the colours from the next draw on.
func (f *Frame) SetTheme(theme *themes.Theme) { f.Palette = newPalette(theme) }

// Whole returns the area of the view and forgets its clickable keys. It is called at the start of a draw.
func (f *Frame) Whole(screen tcell.Screen) Area {
	f.clickable = f.clickable[:0]
	return f.drawn(screen)
}

// drawn returns the area of the view.
func (f *Frame) drawn(screen tcell.Screen) Area {
	x, y, w, h := f.GetRect()
	return Area{Canvas{screen, f.Palette, &f.clickable, x, y, max(w, 0)}, max(h, 0)}
}

// Titles are the texts of a border: on the left and right of its upper edge, and on the right of its lower edge.
type Titles struct{ Left, Right, Bottom []Span }

// Bordered draws the border and returns the area inside, which it does not clear.
func (f *Frame) Bordered(screen tcell.Screen, t Titles) Area {
	all := f.Whole(screen)
	if all.W < 2 || all.H < 2 {
		return Area{all.Cols(0, 0), 0}
	}
	f.ruled = false
	role := f.edgeRole()
	all.Edge('┌', '┐', role, t.Left, t.Right)
	all.Down(all.H-1).Edge('└', '┘', role, nil, t.Bottom)
	for y := 1; y < all.H-1; y++ {
		row := all.Down(y)
		row.Put(0, '│', role)
		row.Put(row.W-1, '│', role)
	}
	return Area{all.Down(1).Cols(1, all.W-1), all.H - 2}
}

// edgeRole returns the role of the border.
func (f *Frame) edgeRole() themes.Role {
	if f.HasFocus() {
		return themes.Focus
	}
	return themes.Border
}

// Ruled draws a rule above and one below, without sides, and returns the area between them, cleared.
func (f *Frame) Ruled(screen tcell.Screen, t Titles) Area {
	all := f.Whole(screen).Cleared()
	if all.W < 2 || all.H < 2 {
		return Area{all.Cols(0, 0), 0}
	}
	f.ruled = true
	all.Edge(' ', ' ', f.edgeRole(), t.Left, t.Right)
	all.Down(all.H-1).Edge(' ', ' ', f.edgeRole(), nil, t.Bottom)
	return Area{all.Down(1).Cols(1, all.W-1), all.H - 2}
}

// Edge draws the upper or lower border with its titles. If there is too little room, the left title is cut. The right
// title is omitted if it does not fit.
func (c Canvas) Edge(first, last rune, role themes.Role, left, right []Span) {
	for i := 1; i < c.W-1; i++ {
		c.Put(i, '─', role)
	}
	c.Put(0, first, role)
	c.Put(c.W-1, last, role)
	room := c.W - 4
	if n := Width(right); n > 0 && n+2 <= room {
		c.Cols(c.W-n-4, c.W-2).Spans(0, padded(right)...)
		room -= n + 3
	}
	if len(left) > 0 && room > 4 {
		c.Cols(2, 2+room).Spans(0, padded(Clip(left, room-2))...)
	}
}

// padded adds a space before and after a title.
func padded(spans []Span) []Span {
	blank := Text(themes.Text, " ")
	return append(append([]Span{blank}, spans...), blank)
}
