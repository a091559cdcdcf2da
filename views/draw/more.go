package draw

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/themes"
)

// hidden returns how many of n rows are invisible above and below the window.
func (w Viewport) hidden(n int) (above, below int) {
	return max(0, min(w.Top, n)), max(0, n-w.Top-w.shown)
}

// Cut reports whether some of n rows are invisible.
func (w Viewport) Cut(n int) bool {
	above, below := w.hidden(n)
	return above+below > 0
}

// DrawMore draws in the lower border of a dialog how many of n rows a window hides, and the keys that scroll to them.
func (f *Frame) DrawMore(screen tcell.Screen, w Viewport, n int) {
	above, below := w.hidden(n)
	var counts []string
	var names []Span
	for _, side := range []struct {
		arrow string
		n     int
		key   keymap.Action
	}{{"↑", above, keymap.PageUp}, {"↓", below, keymap.PageDown}} {
		if side.n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", side.arrow, side.n))
			if keys := f.Keys.Keys(side.key); len(keys) > 0 {
				names = append(names, Text(themes.Muted, " "))
				names = append(names, Clickable(keys[0], Text(themes.Key, keys[0].String()))...)
			}
		}
	}
	all := f.drawn(screen)
	if len(counts) == 0 || all.H < 2 {
		return
	}
	text := Text(themes.Warning, strings.Join(counts, " ")+" more")
	with := append([]Span{text, Text(themes.Muted, " ·")}, names...)
	if len(names) == 0 || Width(with)+6 > all.W {
		with = with[:1]
	}
	first, last := '└', '┘'
	if f.ruled {
		first, last = ' ', ' '
	}
	all.Down(all.H-1).Edge(first, last, f.edgeRole(), nil, with)
}
