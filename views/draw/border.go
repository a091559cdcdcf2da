package draw

import (
	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/themes"
)

// Border draws an empty frame: the one around the status line and the prompt. It also draws
// the characters that join the borders of neighbours.
type Border struct {
	Frame
	mode string
}

// NewBorder returns a frame.
func NewBorder(theme *themes.Theme, keys *keymap.Map) *Border {
	return &Border{Frame: NewFrame(theme, keys)}
}

// Draw draws the frame and clears what is in it.
func (b *Border) Draw(screen tcell.Screen) { b.Bordered(screen, Titles{}).Cleared() }

// DrawFocus draws the upper edge in the colour of the focus, if it has it, after panes
// were drawn that share the edge. What they say on it stays.
func (b *Border) DrawFocus(screen tcell.Screen) {
	if !b.HasFocus() {
		return
	}
	edge := b.Whole(screen)
	for col := range edge.W {
		if text, _, _ := screen.Get(edge.X+col, edge.Y); text == "─" {
			edge.Put(col, '─', themes.Focus)
		}
	}
}

// SetMode sets a word that stands on the upper edge, "" for none.
func (b *Border) SetMode(mode string) { b.mode = mode }

// DrawMode draws that word, after panes were drawn that share the edge.
func (b *Border) DrawMode(screen tcell.Screen) {
	if edge := b.Whole(screen); b.mode != "" && edge.W > len(b.mode)+6 {
		edge.Say(3, " "+b.mode+" ", themes.Accent)
	}
}

// Join draws one character of a border, after the panes that meet there.
func (b *Border) Join(screen tcell.Screen, x, y int, r rune) {
	screen.SetContent(x, y, r, nil, b.Palette[themes.Border])
}
