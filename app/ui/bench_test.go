package ui

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/screen"
	"buddy/themes"
)

// sink is a terminal of 160×50 that takes everything and shows nothing.
type sink struct {
	once sync.Once
	stop chan struct{}
}

func (d *sink) Start() error                    { return nil }
func (d *sink) Stop() error                     { return nil }
func (d *sink) Read([]byte) (int, error)        { <-d.stop; return 0, errors.New("stopped") }
func (d *sink) Write(p []byte) (int, error)     { return len(p), nil }
func (d *sink) Interrupt()                      { d.once.Do(func() { close(d.stop) }) }
func (d *sink) LimitWrites(time.Duration)       {}
func (d *sink) Size() (cols, rows int, _ error) { return 160, 50, nil }
func (d *sink) Resized(func())                  {}
func (d *sink) Close() error                    { return nil }

// FIGURES, 200 tokens a second: one frame of the whole screen with what 33 ms bring.
func BenchmarkStreamingFrame(b *testing.B) {
	b.Setenv("COLORTERM", "truecolor")
	s, err := screen.New(screen.NewTty(&sink{stop: make(chan struct{})}, nil), "xterm-256color")
	if err == nil {
		err = s.Init()
	}
	if err != nil {
		b.Fatal(err)
	}
	defer s.Fini()
	theme, err := themes.Load("", "dark")
	if err != nil {
		b.Fatal(err)
	}
	var later []func()
	u := New(Deps{
		Looks: Looks{Theme: theme}, Terminal: Terminal{Attention: Attention{Notify: s.Notify}},
		Timing: Timing{Now: time.Now, Tick: func(bool) {}, Background: func(work func() func()) { later = append(later, work()) }},
		Keys:   keymap.Default(), Send: func(event.Command) {},
	})
	seq := uint64(0)
	tell := func(payloads ...event.Event) {
		var batch []event.Envelope
		for _, p := range payloads {
			seq++
			batch = append(batch, event.Envelope{Seq: seq, Time: time.Now().UnixMilli(), Task: 1, Payload: p})
		}
		u.apply(batch)
	}
	tell(event.SessionCreated{Cwd: "/src/shop", Target: "local", Model: "demo"}, event.ModeChanged{Mode: action.ModeAsk},
		event.PromptSubmitted{ID: 1, Text: "why?"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "why?"})
	text := strings.Repeat("The rounding in `tax.go` **truncates** instead of rounding, so a price of 19.99 becomes 19.98.\n\n"+
		"```go\nfunc Tax(cents int) int {\n\treturn (cents*19 + 50) / 100\n}\n```\n\n- one item of a list, with a little text\n- and another one\n\n", 20)
	_, before := s.Output()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		at := i * 28 % len(text)
		i++
		if at < 28 && i > 1 {
			tell(event.ModelMessage{}, event.PromptSubmitted{ID: i, Text: "and then?"})
		}
		for part := range 7 {
			if from := at + 4*part; from+4 <= len(text) {
				tell(event.TextDelta{Text: text[from : from+4]})
			}
		}
		for _, f := range later {
			f()
		}
		later = later[:0]
		s.Clear()
		u.Draw(s)
		s.Show()
	}
	_, after := s.Output()
	b.ReportMetric(float64(after-before)/float64(b.N), "bytes/frame")
}
