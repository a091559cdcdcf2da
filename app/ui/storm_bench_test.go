package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// While the window is resized 200 times in 2 s, with 10 MB of conversation and four panes, no key waits longer than 16
// ms.
func BenchmarkResizeStorm(b *testing.B) {
	x := goLive(b, 160, 50, func(x *liveUI) {
		answer := strings.Repeat("The rounding in `tax.go` **truncates** instead of rounding, so a price of 19.99 becomes 19.98.\n\n", 20)
		for n := range 10 << 20 / len(answer) {
			x.u.apply(x.envelopes(event.PromptSubmitted{ID: n, Text: "why?"},
				event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: answer}}))
		}
		for i := range 4 {
			id := fmt.Sprint("%", i)
			x.u.apply(x.envelopes(event.PaneOpened{Pane: id, Title: "shared", Target: fmt.Sprint("web-", i)},
				event.PaneScreen{Pane: id, W: 120, H: 40, Rows: paneRows(i), Cursor: event.Cursor{Y: 39}}))
		}
	})
	var lags []lag
	for b.Loop() {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for i := range 200 {
				<-tick.C
				x.cable.resize(100+i*7%100, 30+i*3%30)
			}
		}()
		for n, storm := 0, true; storm; n++ {
			lags = append(lags, x.echo("ZQ"[n%2]))
			x.cable.typed <- []byte{0x15} // fully painted frames repeat the key
			select {
			case <-ended:
				storm = false
			case <-time.After(3 * time.Millisecond):
			}
		}
	}
	reportLags(b, lags, "key", 50, 99, 100)
}

// An answer of 200 KB at full speed sends the terminal at most three times its bytes.
func BenchmarkAnswerBytes(b *testing.B) {
	x := goLive(b, 160, 50, nil)
	const part = "The rounding in `tax.go` **truncates** instead of rounding, so a price of 19.99 becomes 19.98.\n\n```go\nfunc Tax(cents int) int {\n\treturn (cents*19 + 50) / 100\n}\n```\n\n- one item\n- and another one\n\n"
	text := strings.Repeat(part, 200<<10/len(part))
	x.send(event.SessionCreated{Cwd: "/src/shop", Target: "local", Model: "demo"})
	n := 0
	before := x.cable.bytes()
	for b.Loop() {
		n++
		x.send(event.PromptSubmitted{ID: n, Text: "go"}, event.TaskStarted{ID: n, Kind: event.MainTask})
		for i := 0; i < len(text); i += 16 {
			x.send(event.TextDelta{Text: text[i:min(i+16, len(text))]})
		}
		x.send(event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: text}}, event.TaskFinished{ID: n, Outcome: event.Completed})
		for done := false; !done; {
			x.do(func() { done = x.u.state.Running() == nil && x.u.state.Info.Last > 0 && len(x.events) == 0 })
		}
	}
	b.ReportMetric(float64(x.cable.bytes()-before)/float64(n*len(text)), "bytes/byte")
}

// bytes returns the number of bytes written so far.
func (d *cable) bytes() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.written
}
