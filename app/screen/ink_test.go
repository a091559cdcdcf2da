package screen_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// The screen is right after more colours and clusters than an ink keeps.
func TestManyInks(t *testing.T) {
	s, term := open(t, 40, 10)
	for frame := range 40 {
		s.Clear()
		for i := range 400 {
			n := frame*400 + i
			style := tcell.StyleDefault.Foreground(tcell.NewHexColor(int32(n)))
			s.SetContent(i%40, i/40, rune('a'+n%26), []rune{rune(0x300 + n%0x30)}, style)
		}
		s.Show()
		for _, i := range []int{0, 57, 399} {
			n := frame*400 + i
			text, style, _ := term.Cell(i%40, i/40)
			want := string([]rune{rune('a' + n%26), rune(0x300 + n%0x30)})
			colour := fmt.Sprintf("2;%d;%d;%d||", n>>16, n>>8&255, n&255)
			if text != want || style != colour {
				t.Fatalf("frame %d, cell %d: %q %q, want %q %q", frame, i, text, style, want, colour)
			}
			if got, _, _ := s.Get(i%40, i/40); got != want {
				t.Fatalf("frame %d, cell %d is %q, want %q", frame, i, got, want)
			}
		}
	}
}

// Letters equals SetContent for each character, whatever was there and wherever the text ends.
func TestLetters(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	styles := []tcell.Style{themed, themed.Bold(true), tcell.StyleDefault, tcell.StyleDefault.Background(tcell.ColorNone)}
	a, termA := open(t, 20, 4)
	b, termB := open(t, 20, 4)
	for range 500 {
		a.Clear()
		b.Clear()
		for range 10 {
			x, y, st := rnd.IntN(26)-3, rnd.IntN(6)-1, styles[rnd.IntN(len(styles))]
			if rnd.IntN(2) == 0 {
				a.SetContent(x, y, '世', nil, st)
				b.SetContent(x, y, '世', nil, st)
				continue
			}
			text := []byte("some \x1b letters \x07to be shown")[:rnd.IntN(20)]
			a.Letters(x, y, text, st)
			if x < 0 {
				continue // not drawn
			}
			for i, c := range text {
				b.SetContent(x+i, y, rune(c), nil, st)
			}
		}
		a.Show()
		b.Show()
		if termA.Text() != termB.Text() {
			t.Fatalf("letters at once:\n%s\none by one:\n%s", termA.Text(), termB.Text())
		}
	}
}
