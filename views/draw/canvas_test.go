package draw

import (
	"testing"

	"github.com/gdamore/tcell/v2"

	"buddy/themes"
)

// Terminals of 256 colours show the nearest colour: added, deleted and changed parts must stay distinguishable.
func TestBandsDifferIn256Colors(t *testing.T) {
	colors := make([]tcell.Color, 256)
	for i := range colors {
		colors[i] = tcell.PaletteColor(i)
	}
	for _, name := range themes.Names("") {
		theme, err := themes.Load("", name)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[tcell.Color]themes.Role)
		for _, r := range []themes.Role{themes.DiffAddBand, themes.DiffDeleteBand, themes.DiffAddWord, themes.DiffDeleteWord} {
			c := tcell.FindColor(background(newPalette(theme)[r]), colors)
			if other, ok := seen[c]; ok {
				t.Errorf("%s: %s and %s look the same", name, r, other)
			}
			seen[c] = r
		}
	}
}
