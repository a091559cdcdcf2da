package agent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
	"buddy/tools"
)

// recorder is a Durable that replays its records, in order.
type recorder struct {
	mu      sync.Mutex
	answers [][]model.Delta
	results map[string]tools.Result
	asked   int
}

func (r *recorder) LLMCall(ctx context.Context, _ model.Request, call func(context.Context) iter.Seq2[model.Delta, error]) iter.Seq2[model.Delta, error] {
	r.mu.Lock()
	n := r.asked
	r.asked++
	r.mu.Unlock()
	return func(yield func(model.Delta, error) bool) {
		if n < len(r.answers) {
			for _, d := range r.answers[n] {
				if !yield(d, nil) {
					return
				}
			}
			return
		}
		var all []model.Delta
		for d, err := range call(ctx) {
			if !yield(d, err) || err != nil {
				return
			}
			all = append(all, d)
		}
		r.answers = append(r.answers, all)
	}
}

func (r *recorder) ToolCall(ctx context.Context, c tools.Call, run func(context.Context) tools.Result) tools.Result {
	r.mu.Lock()
	res, ok := r.results[c.ID]
	r.mu.Unlock()
	if ok {
		return res
	}
	res = run(ctx)
	if ctx.Err() == nil {
		r.mu.Lock()
		r.results[c.ID] = res
		r.mu.Unlock()
	}
	return res
}

func TestDurable(t *testing.T) { // a second run calls nothing twice
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{results: make(map[string]tools.Result)}
		tool := &fakeTool{}
		m := &script{steps: []step{says("", aCall), hangs("half")}}
		run := func(ctx context.Context) (Result, error) {
			rec.asked = 0
			return New(Options{Model: m, Tools: tools.NewRegistry(tool), Features: turn.Features{Durable: rec}, Mode: action.ModeAll}).RunText(ctx, "go")
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		if _, err := run(ctx); err == nil {
			t.Fatal("the first run was not interrupted")
		}
		m.steps = []step{says("done")}
		res, err := run(t.Context())
		if err != nil || res.Response != "done" || res.Turns != 2 {
			t.Errorf("Run = %+v, %v", res, err)
		}
		if want := []string{"c1"}; !slices.Equal(tool.ran, want) || len(m.requests) != 3 {
			t.Errorf("ran %v in %d requests, want %v in 3", tool.ran, len(m.requests), want)
		}
	})
}

func TestContinueFromTheJournal(t *testing.T) { // the journal is the built-in Durable
	synctest.Test(t, func(t *testing.T) {
		stored := crash(t, says("", aCall), hangs("half an answer"))
		tool := &fakeTool{}
		m := &script{steps: []step{says("the rest")}}
		r := New(Options{Model: m, Tools: tools.NewRegistry(tool), Replay: stored})
		res, err := r.Continue(t.Context())
		if err != nil || res.Response != "the rest" || res.Outcome != event.Completed {
			t.Errorf("Continue = %+v, %v", res, err)
		}
		if len(tool.ran) != 0 {
			t.Errorf("ran again: %v", tool.ran)
		}
		if got := fmt.Sprint(saidTexts(m.requests[0].Messages)); got != "[user:go assistant: tool:done c1]" {
			t.Errorf("sent %s", got)
		}
		if _, err := r.Continue(t.Context()); err == nil {
			t.Error("continued twice")
		}
	})
}

func TestContinueAfterAWholeAnswer(t *testing.T) { // the crash came before task.finished
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("the answer"))
		s.do(event.Submit{Text: "go"})
		s.stop()
		cut := slices.IndexFunc(s.mem.events, func(e event.Envelope) bool { _, ok := e.Payload.(event.ModelMessage); return ok }) + 1
		m := &script{}
		res, err := New(Options{Model: m, Replay: s.mem.events[:cut]}).Continue(t.Context())
		if err != nil || res.Outcome != event.Completed || len(m.requests) != 0 {
			t.Errorf("Continue = %+v, %v after %d requests", res, err, len(m.requests))
		}
		again := start(t, func(o *Options) { o.Replay = s.mem.events[:cut] })
		if i, n := find[event.Interrupted](again); n != 0 {
			t.Errorf("resumed as %+v", i)
		}
		again.stop()
	})
}
