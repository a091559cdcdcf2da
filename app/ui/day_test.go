package ui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/layout"
	"buddy/sessions"
	"buddy/tools"
	"buddy/tools/basic"
)

var dayTurns = flag.Int("turns", 100, "how many turns TestDay works; 36000 are eight hours")

const turnsOfPrompt = 25

// worker is a model whose answers take half a second; every 25th answer ends its exchange.
type worker struct{ n int }

func (*worker) Info() model.Info { return model.Info{Profile: "test", Model: "worker", Window: 40_000} }

func (w *worker) Stream(_ context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	w.n++
	m := model.Message{Role: model.Assistant, Content: fmt.Sprintf("Step %d: I look at the **rounding** in `tax.go` again.\n\n- one thing\n- another\n", w.n)}
	if w.n%turnsOfPrompt != 0 && len(req.Tools) > 0 {
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

// lived holds the cost of a part of a day, and the memory at its end.
type lived struct {
	turns int
	each  time.Duration // CPU time per turn
	heap  int           // bytes
}

// TestDay runs a stored session for a day: turns do not get slower, memory does not grow, an idle screen draws nothing,
// and no goroutine is left at the end.
func TestDay(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	store, _, err := sessions.Dir("/home/ann/shop", sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		j, err := store.Create(sessions.Header{Cwd: "/home/ann/shop", Target: "local", Model: "demo"})
		if err != nil {
			t.Fatal(err)
		}
		id := j.Info().Header.ID
		rt := agent.New(agent.Options{
			Session: id, Model: &worker{}, Tools: tools.NewRegistry(basic.NewTime(time.Now)), Mode: action.ModeAll,
			System: "You are a worker.", Journal: j,
		})
		x := open(t, 100, 30)
		x.u.deps.Send = rt.Send
		x.u.deps.File = SessionFile{Newest: func() (uint64, error) {
			seen, err := store.View(id)
			if err != nil {
				return 0, err
			}
			return seen.Info().LastSeq, seen.Close()
		}}
		events := rt.Subscribe(t.Context())
		passed := make(chan struct{})
		go func() {
			defer close(passed)
			for env := range events {
				x.events <- env
			}
		}()
		rt.Start()
		began := time.Now()
		var parts []lived
		const tenths = 10
		for part := range tenths {
			used := processTime(t)
			for turns := 0; turns < *dayTurns/tenths; turns += turnsOfPrompt {
				rt.Send(event.Submit{Text: fmt.Sprintf("prompt %d of part %d", turns, part)})
				x.Settle()
				for busy := true; busy; {
					time.Sleep(10 * time.Second)
					x.inside(func() { busy = x.u.busy })
				}
				x.Written()
			}
			turns := max(turnsOfPrompt, *dayTurns/tenths)
			parts = append(parts, lived{(part + 1) * turns, (processTime(t) - used) / time.Duration(turns), heap()})
		}
		t.Logf("after %s", time.Since(began).Round(time.Minute))
		judgeDay(t, parts)
		time.Sleep(time.Minute) // outlasts the message at the end of a task
		x.Settle()
		x.Written()
		time.Sleep(time.Hour)
		synctest.Wait()
		if _, writes := x.Written(); writes != 0 {
			t.Errorf("%d writes in an idle hour", writes)
		}
		if err := errors.Join(rt.Close(t.Context()), j.Close()); err != nil {
			t.Error(err)
		}
		<-passed
	})
}

// judgeDay prints the costs of the parts of a day. In a day long enough to judge, the last part must cost as much as
// the second: during the first one the conversation and its caches fill.
func judgeDay(t *testing.T, parts []lived) {
	t.Helper()
	var text strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&text, "%8d %12.2f %10.1f\n", p.turns, float64(p.each.Microseconds())/1000, float64(p.heap)/(1<<20))
	}
	t.Logf("\n%8s %12s %10s\n%s", "turns", "ms per turn", "MB", text.String())
	first, last := parts[1], parts[len(parts)-1]
	ids := 64 * (last.turns - first.turns) // the ids of all calls are kept
	if grown := last.heap - first.heap; grown > ids+1<<20 {
		t.Errorf("the memory grew by %d bytes", grown)
	}
	if last.turns >= 10_000 && last.each > first.each*3/2 {
		t.Errorf("a turn cost %s of a processor at the end, %s at the beginning", last.each, first.each)
	}
}

// processTime returns the CPU time of this process.
func processTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// inside runs f on the UI goroutine.
func (x *testUI) inside(f func()) {
	x.u.deps.Later(f)
	x.Settle()
}

// arranged returns the layout and the focus, read on the UI goroutine because clocks redraw the screen at any time.
func (x *testUI) arranged() (lay layout.Layout, focus layout.Pane) {
	ready := make(chan struct{})
	x.u.deps.Later(func() {
		lay, focus = x.u.arranged.lay.Layout, x.u.arranged.focus
		close(ready)
	})
	<-ready
	return lay, focus
}

// focus returns the pane that has the keys.
func (x *testUI) focus() layout.Pane {
	_, focus := x.arranged()
	return focus
}

// column returns the first column of the box with the live panes.
func (x *testUI) column() int {
	lay, _ := x.arranged()
	return lay.Panes[layout.Live].X
}

// heap returns the number of bytes in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
