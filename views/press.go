package views

import (
	"buddy/app/keymap"
	"buddy/themes"
)

// A key that is named on the screen can be clicked: drawing a span with a key leaves a spot,
// and who hands out the mouse asks [frame.KeyAt] what a click means.

// keySpot is where a key is named on the screen.
type keySpot struct {
	x, y, w int
	key     keymap.Key
}

// KeyAt returns the key that is named at a place of the screen, as the view was drawn last.
func (f *frame) KeyAt(x, y int) (keymap.Key, bool) {
	for _, s := range f.spots {
		if y == s.y && x >= s.x && x < s.x+s.w {
			return s.key, true
		}
	}
	return keymap.Key{}, false
}

// pressing makes spans that a click on presses a key.
func pressing(key keymap.Key, spans ...span) []span {
	for i := range spans {
		spans[i].key = key
	}
	return spans
}

// named is the first key of an action with what it does, to be clicked. An action without a
// key has only the text.
func (f *frame) named(a keymap.Action, does string) []span {
	keys := f.keys.Keys(a)
	if len(keys) == 0 {
		return []span{own(themes.Muted, does)}
	}
	return pressing(keys[0], own(themes.Key, keys[0].String()), own(themes.Muted, does))
}

// choiceRows are keys with what they mean, as many rows as they need.
func choiceRows(choices []hint, w int) [][]span {
	rows, used := [][]span{nil}, 0
	for _, c := range choices {
		item := pressing(c.key, own(themes.Key, "["+c.key.String()+"]"), own(themes.Text, " "+c.label))
		n := spansWidth(item)
		if used > 0 && used+3+n > w {
			rows, used = append(rows, nil), 0
		}
		last := len(rows) - 1
		if used > 0 {
			rows[last] = append(rows[last], own(themes.Text, "   "))
			used += 3
		}
		rows[last] = append(rows[last], item...)
		used += n
	}
	return rows
}
