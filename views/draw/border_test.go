package draw_test

import (
	"testing"

	"buddy/app/keymap"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

func TestBorder(t *testing.T) {
	b := draw.NewBorder(viewtest.Dark(t), keymap.Default())
	s := viewtest.Screen(t, b, 4, 3)
	b.Join(s, 0, 2, '├')
	if c, _, _ := s.Get(0, 2); c != "├" {
		t.Errorf("joint is %q", c)
	}
}
