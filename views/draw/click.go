package draw

import (
	"buddy/app/keymap"
	"buddy/themes"
)

// Drawing a span with a key records its cells. The mouse handler calls [Frame.KeyAt] to find the key of a click.

// clickableKey is a key with the cells of its name.
type clickableKey struct {
	x, y, w int
	key     keymap.Key
}

// KeyAt returns the key whose name is at a place of the screen, according to the last draw.
func (f *Frame) KeyAt(x, y int) (keymap.Key, bool) {
	for _, s := range f.clickable {
		if y == s.y && x >= s.x && x < s.x+s.w {
			return s.key, true
		}
	}
	return keymap.Key{}, false
}

// Clickable makes a click on spans press a key.
func Clickable(key keymap.Key, spans ...Span) []Span {
	for i := range spans {
		spans[i].key = key
	}
	return spans
}

// Named returns the first key of an action with a description, as clickable spans. Without a key it returns only the
// description.
func (f *Frame) Named(a keymap.Action, does string) []Span {
	keys := f.Keys.Keys(a)
	if len(keys) == 0 {
		return []Span{Text(themes.Muted, does)}
	}
	return Clickable(keys[0], Text(themes.Key, keys[0].String()), Text(themes.Muted, does))
}
