package draw

import (
	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/themes"
)

// Border draws the rules and characters between neighbouring boxes.
type Border struct{ Frame }

// NewBorder returns a Border.
func NewBorder(theme *themes.Theme, keys *keymap.Map) *Border {
	return &Border{NewFrame(theme, keys)}
}

// Rule draws a line of w cells, or spaces if line is false.
func (b *Border) Rule(screen tcell.Screen, x, y, w int, line bool) {
	row := Canvas{Screen: screen, Palette: b.Palette, X: x, Y: y, W: w}
	if !line {
		row.Fill(0, w, b.Palette[themes.Text])
		return
	}
	for i := range w {
		row.Put(i, '─', themes.Border)
	}
}

// Join draws the border character where boxes meet. Call it after the boxes are drawn.
func (b *Border) Join(screen tcell.Screen, x, y int, r rune) {
	screen.SetContent(x, y, r, nil, b.Palette[themes.Border])
}
