package draw

import (
	"buddy/app/keymap"
	"buddy/themes"
)

// A key that is named on the screen can be clicked: drawing a span with a key records its cells,
// and the mouse handler asks [Frame.KeyAt] what a click means.

// clickableKey holds the cells in which a key is named.
type clickableKey struct {
	x, y, w int
	key     keymap.Key
}

// KeyAt returns the key that is named at a place of the screen, as the view was drawn last.
func (f *Frame) KeyAt(x, y int) (keymap.Key, bool) {
	for _, s := range f.clickable {
		if y == s.y && x >= s.x && x < s.x+s.w {
			return s.key, true
		}
	}
	return keymap.Key{}, false
}

// Clickable makes spans that a click on presses a key.
func Clickable(key keymap.Key, spans ...Span) []Span {
	for i := range spans {
		spans[i].key = key
	}
	return spans
}

// Named returns the first key of an action with what it does, to be clicked. An action without a
// key has only the text.
func (f *Frame) Named(a keymap.Action, does string) []Span {
	keys := f.Keys.Keys(a)
	if len(keys) == 0 {
		return []Span{Text(themes.Muted, does)}
	}
	return Clickable(keys[0], Text(themes.Key, keys[0].String()), Text(themes.Muted, does))
}
