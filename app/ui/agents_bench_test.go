package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
)

// agentsWork returns the events of a main task that calls n subagents, each on its own branch.
func agentsWork(n int) []event.Envelope {
	all := []event.Envelope{
		{Task: 1, Payload: event.SessionCreated{Cwd: "/src/shop", Target: "local", Model: "demo"}},
		{Task: 1, Payload: event.PromptSubmitted{ID: 1, Text: "go"}},
		{Task: 1, Payload: event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "go"}},
	}
	for i := 2; i < n+2; i++ {
		call := fmt.Sprint("call-", i)
		all = append(all,
			event.Envelope{Task: 1, Payload: event.ToolRequested{CallID: call, Name: "agent"}}, event.Envelope{Task: 1, Payload: event.ToolStarted{CallID: call, Name: "agent"}},
			event.Envelope{Payload: event.BranchStarted{Branch: i, Why: event.ForSubagent}},
			event.Envelope{Branch: i, Task: i, Payload: event.PromptSubmitted{ID: i, Text: "look"}},
			event.Envelope{Branch: i, Task: i, Payload: event.TaskStarted{ID: i, Kind: event.SubagentTask, Title: "look", Agent: "explore", Parent: 1, Call: call}})
	}
	return all
}

// deltasOf returns one delta from each of n agents.
func deltasOf(n int, text string) []event.Envelope {
	var all []event.Envelope
	for i := 2; i < n+2; i++ {
		all = append(all, event.Envelope{Branch: i, Task: i, Payload: event.TextDelta{Text: text}})
	}
	return all
}

// BenchmarkAgentsFrame draws one frame with the events of 33 ms while each subagent streams 200 tokens a second, with
// the main conversation or a followed one shown. Ten subagents cost as much as one, except for their rows.
func BenchmarkAgentsFrame(b *testing.B) {
	for _, follows := range []bool{false, true} {
		for _, n := range []int{1, 10} {
			b.Run(fmt.Sprintf("%d-agents-followed-%v", n, follows), func(b *testing.B) {
				var later []func()
				f := newFrames(b, func(d *Deps) { d.Background = func(work func() func()) { later = append(later, work()) } })
				tell := func(all []event.Envelope) {
					for i := range all {
						f.seq++
						all[i].Seq, all[i].Time = f.seq, time.Now().UnixMilli()
					}
					f.u.apply(all)
				}
				tell(agentsWork(n))
				if follows {
					follow(f.u, 2)
				}
				text := strings.Repeat("The rounding in `tax.go` **truncates** instead of rounding, so a price of 19.99 becomes 19.98.\n\n- one item\n", 40)
				var drawing time.Duration
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					at := i * 28 % (len(text) - 28)
					if i++; i%100 == 0 { // answers must not grow for ever
						for one := 2; one < n+2; one++ {
							tell([]event.Envelope{{Branch: one, Task: one, Payload: event.ModelMessage{}}, {Branch: one, Task: one, Payload: event.PromptSubmitted{ID: 1000 + i, Text: "on"}}})
						}
					}
					for part := range 7 {
						tell(deltasOf(n, text[at+4*part:at+4*part+4]))
					}
					for _, apply := range later {
						apply()
					}
					later = later[:0]
					began := time.Now()
					f.draw()
					drawing += time.Since(began)
				}
				b.ReportMetric(float64(drawing.Nanoseconds())/float64(b.N), "draw-ns/op")
			})
		}
	}
}

// BenchmarkAgentsEcho measures the time until a typed key shows while the subagents stream 200 tokens a second each.
func BenchmarkAgentsEcho(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("%d-agents", n), func(b *testing.B) {
			x := goLive(b, 160, 50, nil)
			tell := func(all []event.Envelope) {
				for _, env := range all {
					x.seq++
					env.Seq, env.Time, env.Session = x.seq, time.Now().UnixMilli(), "7f3a-0000"
					x.events <- env
				}
			}
			tell(agentsWork(n))
			stop, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				tick := time.NewTicker(5 * time.Millisecond)
				defer tick.Stop()
				for {
					select {
					case <-stop:
						return
					case <-tick.C:
						tell(deltasOf(n, "some text of it. "))
					}
				}
			}()
			var lags []lag
			for b.Loop() {
				for i := range 400 {
					lags = append(lags, x.echo("ZQ"[i%2]))
					if i%20 == 19 {
						x.cable.typed <- []byte{0x15} // empties the line
					}
					time.Sleep(5*time.Millisecond + rand.N(10*time.Millisecond))
				}
			}
			close(stop)
			<-ended
			reportLags(b, lags, "echo", 50, 99)
		})
	}
}
