package screen_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/app/screen"
)

// sink is a terminal that accepts everything and shows nothing.
type sink struct {
	bytes int64 // written
	once  sync.Once
	stop  chan struct{}
}

func (d *sink) Start() error                    { return nil }
func (d *sink) Stop() error                     { return nil }
func (d *sink) Read([]byte) (int, error)        { <-d.stop; return 0, errors.New("stopped") }
func (d *sink) Write(p []byte) (int, error)     { d.bytes += int64(len(p)); return len(p), nil }
func (d *sink) Interrupt()                      { d.once.Do(func() { close(d.stop) }) }
func (d *sink) LimitWrites(time.Duration)       {}
func (d *sink) Size() (cols, rows int, _ error) { return 160, 50, nil }
func (d *sink) Resized(func())                  {}
func (d *sink) Close() error                    { return nil }

// BenchmarkFrame draws frames of 160×50 in full, as tview does.
func BenchmarkFrame(b *testing.B) {
	const line = "line of a page with words up to the end of the row, as a conversation has them; "
	words := strings.Repeat("and then some words ", 6)
	for _, bm := range []struct {
		name string
		last func(i int) string
	}{
		{"unchanged", func(int) string { return "> " }},
		{"delta20", func(i int) string { return words[:20*(i%6)] }},
		{"key", func(i int) string { return words[:i%100] }},
		{"scroll", func(i int) string { return words[:i%100] }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.Setenv("COLORTERM", "truecolor")
			term := &sink{stop: make(chan struct{})}
			s, err := screen.New(screen.NewTty(term, nil), "xterm-256color")
			if err == nil {
				err = s.Init()
			}
			if err != nil {
				b.Fatal(err)
			}
			defer s.Fini()
			draw := func(i int) {
				s.Clear()
				for y := range 50 {
					text := line + line
					if y == 49 {
						text = bm.last(i)
					} else if bm.name == "scroll" {
						text = text[(y+i)%20:]
					}
					for x := range 160 {
						r := ' '
						if x < len(text) {
							r = rune(text[x])
						}
						s.SetContent(x, y, r, nil, themed)
					}
				}
				s.ShowCursor(len(bm.last(i)), 49)
				s.Show()
			}
			draw(0)
			before := term.bytes
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				draw(i)
			}
			b.ReportMetric(float64(term.bytes-before)/float64(b.N), "bytes/frame")
		})
	}
}

// BenchmarkPaste pastes 1 MB, up to its event.
func BenchmarkPaste(b *testing.B) {
	s, term := open(b, 80, 24)
	text := "\x1b[200~" + strings.Repeat("0123456789\n", 100_000) + "\x1b[201~"
	got := 0
	lease := s.Lend(screen.Handlers{Paste: func(p screen.Paste) { got += len(p.Text) }}, nil)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	n := 0
	for b.Loop() {
		n++
		term.Type(text)
		if ev, ok := lease.PollEvent().(*tcell.EventKey); !ok || !lease.Deliver(ev) {
			b.Fatal("no paste")
		}
	}
	if got != n*1_100_000 {
		b.Errorf("%d bytes pasted in %d pastes", got, n)
	}
}
