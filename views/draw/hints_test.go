package draw

import (
	"fmt"
	"strings"
	"testing"

	"buddy/app/keymap"
)

func TestFitHints(t *testing.T) {
	typed := keymap.Typed
	all := []Hint{{Key: typed('Q'), Sign: "Enter", Label: "choose"}, {Key: typed('f'), Label: "fork"}, {Key: typed('E'), Label: "export"}, {Key: typed('q'), Sign: "Esc", Label: "close", Keep: true}}
	for _, tt := range []struct {
		w    int
		want string
	}{
		{80, "Enter choose  f fork  E export  Esc close"},
		{41, "Enter choose  f fork  E export  Esc close"},
		{40, "Enter choose  f fork  Esc close"},
		{30, "Enter choose  Esc close"},
		{20, "f fork  Esc close"}, // shorter ones are better than none
		{9, "Esc close"},
		{8, "f fork"},
		{3, ""},
	} {
		if got := strings.Join(textsOf([][]Span{HintRow(all, tt.w)}), ""); got != tt.want {
			t.Errorf("in %d cells: %q, want %q", tt.w, got, tt.want)
		}
	}
}

// At any width hints fit, and every dialog names the key that leaves it if anything fits.
func TestHintsOfDialogs(t *testing.T) {
	keys := keymap.Default()
	for _, scope := range []keymap.Scope{keymap.Picker, keymap.Sessions, keymap.Naming, keymap.Changes, keymap.Secret, keymap.Asking, keymap.Reason, keymap.Amend, keymap.Pager} {
		for w := range 100 {
			row := HintRow(HintsOf(keys, scope), w)
			if Width(row) > w {
				t.Errorf("%s: %d cells of %d", scope, Width(row), w)
			}
			text := fmt.Sprint(textsOf([][]Span{row}))
			if w >= 24 && !strings.Contains(text, "close") && !strings.Contains(text, "cancel") && !strings.Contains(text, "back") {
				t.Errorf("%s in %d cells does not say how to leave: %s", scope, w, text)
			}
		}
	}
}

func TestWindowHidden(t *testing.T) {
	for _, tt := range []struct{ top, shown, n, above, below int }{
		{0, 5, 5, 0, 0}, {0, 5, 3, 0, 0}, {0, 5, 9, 0, 4}, {4, 5, 9, 4, 0}, {2, 5, 9, 2, 2}, {0, 0, 0, 0, 0},
	} {
		if above, below := (Viewport{tt.top, tt.shown}).hidden(tt.n); above != tt.above || below != tt.below {
			t.Errorf("%+v: %d above, %d below", tt, above, below)
		}
	}
}
