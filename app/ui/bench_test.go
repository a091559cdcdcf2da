package ui

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
)

// One frame of the whole screen with the events of 33 ms at 200 tokens a second.
func BenchmarkStreamingFrame(b *testing.B) {
	var later []func()
	f := newFrames(b, func(d *Deps) { d.Background = func(work func() func()) { later = append(later, work()) } })
	f.apply(event.SessionCreated{Cwd: "/src/shop", Target: "local", Model: "demo"}, event.ModeChanged{Mode: action.ModeAsk},
		event.PromptSubmitted{ID: 1, Text: "why?"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "why?"})
	text := strings.Repeat("The rounding in `tax.go` **truncates** instead of rounding, so a price of 19.99 becomes 19.98.\n\n"+
		"```go\nfunc Tax(cents int) int {\n\treturn (cents*19 + 50) / 100\n}\n```\n\n- one item of a list, with a little text\n- and another one\n\n", 20)
	before := f.cable.bytes()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		at := i * 28 % len(text)
		i++
		if at < 28 && i > 1 {
			f.apply(event.ModelMessage{}, event.PromptSubmitted{ID: i, Text: "and then?"})
		}
		for part := range 7 {
			if from := at + 4*part; from+4 <= len(text) {
				f.apply(event.TextDelta{Text: text[from : from+4]})
			}
		}
		for _, apply := range later {
			apply()
		}
		later = later[:0]
		f.draw()
	}
	b.ReportMetric(float64(f.cable.bytes()-before)/float64(b.N), "bytes/frame")
}
