package dialog

import (
	"strings"
	"testing"

	"buddy/app/keymap"
	"buddy/views/viewtest"
)

func TestConfirmGolden(t *testing.T) {
	c := NewConfirm(viewtest.Dark(t), keymap.Default())
	c.Ask(Question{Title: "Quit? " + viewtest.Hostile, Lines: []string{"2 commands still run:", viewtest.Hostile, strings.Repeat("long ", 40)}, Scope: keymap.Leaving})
	for _, size := range [][2]int{{76, 10}, {38, 12}, {30, 6}} {
		viewtest.Golden(t, "confirm", c, size[0], size[1])
	}
}
