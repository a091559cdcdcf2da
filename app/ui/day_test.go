package ui

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/layout"
	"buddy/tools"
	"buddy/tools/basic"
)

var dayTurns = flag.Int("turns", 100, "how many turns TestDay works; 50000 are eight hours")

// worker is a model that works through prompts: an answer takes half a second, and every
// 25th is the last of its exchange.
type worker struct{ n int }

func (*worker) Info() model.Info { return model.Info{Profile: "test", Model: "worker", Window: 40_000} }

func (w *worker) Stream(_ context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	w.n++
	m := model.Message{Role: model.Assistant, Content: fmt.Sprintf("Step %d: I look at the **rounding** in `tax.go` again.\n\n- one thing\n- another\n", w.n)}
	if w.n%25 != 0 && len(req.Tools) > 0 {
		m.ToolCalls = []model.ToolCall{{ID: fmt.Sprint("c", w.n), Name: "time", Arguments: `{}`}}
	}
	return func(yield func(model.Delta, error) bool) {
		for word := range strings.SplitAfterSeq(m.Content, " ") {
			time.Sleep(50 * time.Millisecond)
			if !yield(model.Delta{Kind: model.Text, Text: word}, nil) {
				return
			}
		}
		yield(model.Delta{Kind: model.Done, Message: &m, Finish: "stop", Usage: &model.Usage{Prompt: 1000, Completion: 40}}, nil)
	}
}

// TestDay works for a day on one screen: the memory grows by no more than the text, an idle
// screen draws nothing, and at the end no goroutine is left (rule 4).
func TestDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := agent.New(agent.Options{
			Session: "7f3a-0000", Model: &worker{}, Tools: tools.NewRegistry(basic.NewTime(time.Now)), Mode: action.ModeAll,
			System: "You are a worker.", Context: agent.Context{},
		})
		x := open(t, 100, 30)
		x.u.deps.Send = rt.Send
		events := rt.Subscribe(t.Context())
		passed := make(chan struct{})
		go func() {
			defer close(passed)
			for env := range events {
				x.events <- env
			}
		}()
		rt.Start()
		var used, text [2]int
		for half := range 2 {
			for turns := 0; turns < *dayTurns/2; turns += 25 {
				rt.Send(event.Submit{Text: fmt.Sprintf("prompt %d of half %d", turns, half)})
				x.Settle()
				for busy := true; busy; {
					time.Sleep(10 * time.Second)
					x.inside(func() { busy = x.u.busy })
				}
				x.Written()
			}
			used[half] = heap()
			x.inside(func() { text[half] = x.textSize() })
		}
		t.Logf("memory %d, then %d bytes; text %d, then %d bytes", used[0], used[1], text[0], text[1])
		if grown, most := used[1]-used[0], 6*(text[1]-text[0])+1<<20; grown > most {
			t.Errorf("the memory grew by %d bytes, the text by %d", grown, text[1]-text[0])
		}
		time.Sleep(time.Minute) // what is said when a task ends
		x.Settle()
		x.Written()
		time.Sleep(time.Hour)
		synctest.Wait()
		if _, writes := x.Written(); writes != 0 {
			t.Errorf("%d writes in an idle hour", writes)
		}
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
		<-passed
	})
}

// inside runs f on the screen's goroutine.
func (x *testUI) inside(f func()) {
	x.u.deps.Later(f)
	x.Settle()
}

// arranged returns where everything is. Clocks redraw the screen by themselves, so it is read where that happens.
func (x *testUI) arranged() (lay layout.Layout, focus layout.Pane) {
	told := make(chan struct{})
	x.u.deps.Later(func() {
		lay, focus = x.u.arranged.lay.Layout, x.u.arranged.focus
		close(told)
	})
	<-told
	return lay, focus
}

// focus returns the pane that has the keys.
func (x *testUI) focus() layout.Pane {
	_, focus := x.arranged()
	return focus
}

// column returns the first column of the box with what is live.
func (x *testUI) column() int {
	lay, _ := x.arranged()
	return lay.Panes[layout.Live].X
}

// heap is how many bytes are in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// textSize is how many bytes of text the conversation has.
func (x *testUI) textSize() (n int) {
	for _, b := range x.u.state.Blocks {
		n += len(b.Text)
		if b.Call != nil {
			n += len(b.Call.Result) + len(b.Call.Arguments)
		}
	}
	return n
}
