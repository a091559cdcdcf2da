package views

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/themes"
)

// hidden counts the rows above and below those that show of n.
func (w window) hidden(n int) (above, below int) {
	return max(0, min(w.top, n)), max(0, n-w.top-w.shown)
}

// drawMore says in the lower border of a dialog how many of n rows a window hides, and which
// keys lead to them.
func (f *frame) drawMore(screen tcell.Screen, w window, n int) {
	above, below := w.hidden(n)
	var counts []string
	var names []span
	for _, side := range []struct {
		arrow string
		n     int
		key   keymap.Action
	}{{"↑", above, keymap.PageUp}, {"↓", below, keymap.PageDown}} {
		if side.n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", side.arrow, side.n))
			if keys := f.keys.Keys(side.key); len(keys) > 0 {
				names = append(names, own(themes.Muted, " "))
				names = append(names, pressing(keys[0], own(themes.Key, keys[0].String()))...)
			}
		}
	}
	all := f.drawn(screen)
	if len(counts) == 0 || all.h < 2 {
		return
	}
	role := themes.Border
	if f.HasFocus() {
		role = themes.Focus
	}
	text := own(themes.Warning, strings.Join(counts, " ")+" more")
	with := append([]span{text, own(themes.Muted, " ·")}, names...)
	if len(names) == 0 || spansWidth(with)+6 > all.w {
		with = with[:1]
	}
	all.down(all.h-1).edge('└', '┘', role, nil, with)
}
