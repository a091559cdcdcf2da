package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/settings"
	"buddy/agent/turn"
	"buddy/tools"
)

// embedded returns a runtime used as a library: no Start, a model and a tool.
func embedded(turns int, steps ...step) (*Runtime, *script, *fakeTool) {
	return hooked(nil, turns, steps...)
}

// hooked is embedded with a hook; nil is none.
func hooked(h turn.Hook, turns int, steps ...step) (*Runtime, *script, *fakeTool) {
	m, tool := &script{steps: steps}, &fakeTool{}
	o := Options{Model: m, Tools: tools.NewRegistry(tool), Limits: settings.Limits{MaxIterations: turns}}
	if h != nil {
		o.Hooks = []turn.Hook{h}
	}
	o.Policy.Workspace = "/w"
	return New(o), m, tool
}

func saidTexts(msgs []model.Message) []string {
	var out []string
	for _, m := range msgs {
		out = append(out, string(m.Role)+":"+m.Content)
	}
	return out
}

func TestRunGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &script{steps: []step{says("", aCall), says("first"), says("second")}}
		r := New(Options{Model: priced{m}, Tools: tools.NewRegistry(&fakeTool{}), Mode: action.ModeAll})
		res, err := r.RunText(t.Context(), "one")
		if err != nil || res.Task != 1 || res.Response != "first" || res.Turns != 2 || res.Outcome != event.Completed || res.Usage.Prompt != 20 || res.Usage.Completion != 4 || res.Cost != 20+4*5 {
			t.Errorf("%+v, %v", res, err)
		}
		res, err = r.Run(t.Context(), model.Message{Content: "two"})
		if err != nil || res.Task != 2 || res.Response != "second" || res.Turns != 1 || res.Cost != 10+2*5 {
			t.Errorf("%+v, %v", res, err)
		}
		expect(t, saidTexts(res.Messages), "user:one", "assistant:", "tool:done c1", "assistant:first", "user:two", "assistant:second")
		if len(m.requests) != 3 {
			t.Errorf("%d requests", len(m.requests))
		}
	})
}

func TestRunErrors(t *testing.T) {
	gone := errors.New("the caller had enough")
	tests := []struct {
		name     string
		message  model.Message
		step     step
		want     error
		outcome  event.Outcome
		response string
	}{
		{"no text", model.Message{Content: " "}, nil, nil, "", ""},
		{"wrong role", model.Message{Role: model.Tool, Content: "x"}, nil, nil, "", ""},
		{"turns", model.Message{Content: "x"}, says("so far", aCall), ErrMaxTurns, event.MaxTurns, "so far"},
		{"cancelled", model.Message{Content: "x"}, hangs("half "), gone, event.Cancelled, "half "},
		{"failed", model.Message{Content: "x"}, fails("half ", gone), gone, event.Failed, "half "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _, _ := embedded(1, tt.step)
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { cancel(gone) })
				res, err := r.Run(ctx, tt.message)
				if err == nil || (tt.want != nil && !errors.Is(err, tt.want)) || res.Outcome != tt.outcome || res.Response != tt.response {
					t.Errorf("%+v, %v; want %s with %v", res, err, tt.outcome, tt.want)
				}
				if err := r.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := r.RunText(t.Context(), "x"); !errors.Is(err, ErrClosed) {
					t.Errorf("after Close: %v", err)
				}
			})
		})
	}
}

func TestNobodyToAsk(t *testing.T) { // nobody can answer without Start
	synctest.Test(t, func(t *testing.T) {
		r, _, tool := embedded(0, says("", `c1 do {"kind":"shell","do":"echo"}`), says("ok"))
		res, err := r.RunText(t.Context(), "go")
		if err != nil || len(tool.ran) != 0 || !strings.Contains(res.Messages[2].Content, "nobody was there to ask") {
			t.Errorf("%+v, %v, ran %v", res, err, tool.ran)
		}
	})
}

func TestOneExchangeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, _ := embedded(0, hangs("x"))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _ = r.RunText(ctx, "one") }()
		synctest.Wait()
		if _, err := r.RunText(t.Context(), "two"); !errors.Is(err, ErrBusy) {
			t.Errorf("Run: %v", err)
		}
		for env := range r.RunStream(t.Context(), model.Message{Content: "three"}) {
			if e, ok := env.Payload.(event.Error); !ok || !strings.Contains(e.Text, ErrBusy.Error()) {
				t.Errorf("RunStream: %+v", env)
			}
		}
		for s := range r.RunStep(t.Context(), model.Message{Content: "four"}) {
			if f, ok := s.(Failure); !ok || !errors.Is(f.Err, ErrBusy) {
				t.Errorf("RunStep: %+v", s)
			}
		}
		cancel()
		synctest.Wait()
		expect(t, saidTexts(r.Messages()), "user:one", "assistant:x")
	})
}

func TestRunStreamReaderGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, _ := embedded(0, hangs("x"), says("y"))
		ctx, cancel := context.WithCancel(t.Context())
		events := r.RunStream(ctx, model.Message{Content: "one"})
		<-events
		synctest.Wait() // the model is answering
		cancel()
		synctest.Wait()
		for range events { // remaining events
		}
		if res, err := r.RunText(t.Context(), "two"); err != nil || res.Response != "y" {
			t.Errorf("afterwards: %+v, %v", res, err)
		}
	})
}

func TestRunStream(t *testing.T) { // events of the exchange, from its prompt to its end
	synctest.Test(t, func(t *testing.T) {
		r, _, _ := embedded(0, says("a b", aCall), says("c"))
		var got []string
		for env := range r.RunStream(t.Context(), model.Message{Content: "one"}) {
			got = append(got, event.Type(env.Payload))
		}
		if !slices.Equal(got[:3], []string{"prompt.submitted", "task.queued", "task.started"}) || got[len(got)-1] != "task.finished" || !slices.Contains(got, "tool.result") {
			t.Errorf("events %q", got)
		}
	})
}

func TestRunStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m, tool := embedded(0, says("", aCall, `c2 do {"kind":"file_read","do":"fail"}`), says("", `c3 other {}`), says("fine"))
		steps := r.RunStep(t.Context(), model.Message{Content: "go"})
		expect(t, saidTexts(r.Messages()), "user:go")
		var got []string
		for s := range steps {
			switch s := s.(type) {
			case ToolsExecuted:
				got = append(got, fmt.Sprint(len(s.Calls), " ", saidTexts(s.Results)))
				if err := r.Inject(model.Message{Content: "more"}); err != nil {
					t.Error(err)
				}
				r.SetTools(tools.NewRegistry())
			case FinalResponse:
				got = append(got, s.Result.Response)
			default:
				t.Errorf("step %+v", s)
			}
		}
		expect(t, got, "2 [tool:done c1 tool:Tool error: it broke]", "1 [tool:Tool error: unknown tool: other (have: )]", "fine")
		expect(t, saidTexts(m.requests[1].Messages[4:]), "user:more")
		if len(m.requests[0].Tools) != 1 || m.requests[1].Tools != nil || len(tool.ran) != 2 {
			t.Errorf("tools %v, then %v; ran %v", m.requests[0].Tools, m.requests[1].Tools, tool.ran)
		}
		for s := range steps {
			if _, ok := s.(Failure); !ok {
				t.Errorf("the second time: %+v", s)
			}
		}
		for _, req := range m.requests {
			checkPairs(t, req.Messages)
		}
	})
}

func TestRunStepEnds(t *testing.T) { // terminal outcomes, and a caller that breaks out
	synctest.Test(t, func(t *testing.T) {
		r, m, _ := embedded(1, says("", aCall), says("", aCall), says("", aCall), fails("", errors.New("reset")))
		for range r.RunStep(t.Context(), model.Message{Content: "leave"}) {
			break
		}
		func() {
			defer func() { _ = recover() }()
			for range r.RunStep(t.Context(), model.Message{Content: "panic"}) {
				panic("in the caller")
			}
		}()
		var got []string
		for range 2 {
			for s := range r.RunStep(t.Context(), model.Message{Content: "go"}) {
				got = append(got, fmt.Sprintf("%T", s))
			}
		}
		expect(t, got, "agent.ToolsExecuted", "agent.MaxTurnsReached", "agent.Failure")
		checkPairs(t, m.requests[len(m.requests)-1].Messages)
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestInjectWhileToolsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m, _ := embedded(0, says("", safe("c1", 5)), says("ok"))
		time.AfterFunc(time.Second, func() {
			if err := r.Inject(model.Message{Content: "hurry"}); err != nil {
				t.Error(err)
			}
		})
		if _, err := r.RunText(t.Context(), "go"); err != nil {
			t.Error(err)
		}
		expect(t, saidTexts(m.requests[1].Messages), "user:go", "assistant:", "tool:done c1", "user:hurry")
	})
}

// caller is a model that calls a tool immediately.
type caller struct{}

func (caller) Info() model.Info { return model.Info{} }

func (caller) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) { says("", aCall)(ctx, yield) }
}

// BenchmarkTurn measures the loop's own cost of a turn with a tool, in a short and in a long conversation.
func BenchmarkTurn(b *testing.B) {
	for _, turns := range []int{10, 2000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, _, _ := embedded(0)
				r.selection.SetModel(caller{})
				_, t, err := r.tasks.begin(b.Context(), &model.Message{Content: "go"})
				if err != nil {
					b.Fatal(err)
				}
				for range turns {
					if outcome, err := r.tasks.loop.Step(r.life.ctx, t.x); outcome != "" || err != nil {
						b.Fatal(outcome, err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
		})
	}
}

// BenchmarkTenCalls measures starting ten overlapping calls and storing their results.
func BenchmarkTenCalls(b *testing.B) {
	var calls []string
	for i := range 10 {
		calls = append(calls, fmt.Sprintf(`c%d do {"kind":"file_read","do":"sleep","par":true,"seconds":0,"n":%d}`, i, i))
	}
	b.ReportAllocs()
	for b.Loop() {
		r, _, _ := embedded(0, says("", calls...), says("done"))
		if _, err := r.RunText(b.Context(), "go"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestStrict(t *testing.T) { // a hard tool error ends the run only in strict mode
	synctest.Test(t, func(t *testing.T) {
		for _, strict := range []bool{false, true} {
			m := &script{steps: []step{says("", `c1 do {"kind":"file_read","do":"fail"}`, `c2 do {"kind":"file_read","do":"echo"}`), says("done")}}
			res, err := New(Options{Model: m, Tools: tools.NewRegistry(&fakeTool{}), Mode: action.ModeAll, Strict: strict}).RunText(t.Context(), "go")
			var failed *ToolError
			if got := errors.As(err, &failed); got != strict {
				t.Errorf("strict %v: %v", strict, err)
			}
			if strict && (failed.Tool != "do" || res.Outcome != event.Failed) {
				t.Errorf("%+v: %v", res, err)
			}
			checkPairs(t, res.Messages)
		}
	})
}

// Strict mode continues after a tool that asks for another try: its hint is the result.
func TestStrictGoesOnAfterAHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, strict := range []bool{false, true} {
			m := &script{steps: []step{says("", `c1 do {"kind":"file_read","do":"retry"}`), says("done")}}
			res, err := New(Options{Model: m, Tools: tools.NewRegistry(&fakeTool{}), Mode: action.ModeAll, Strict: strict}).RunText(t.Context(), "go")
			if err != nil || res.Response != "done" {
				t.Errorf("strict %v: %+v, %v", strict, res, err)
			}
			expect(t, saidTexts(m.requests[1].Messages), "user:go", "assistant:", "tool:use another path")
		}
	})
}

func TestMaxParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for limit, want := range map[int]time.Duration{0: time.Second, 1: 3 * time.Second, 2: 2 * time.Second} {
			call := func(id string) string {
				return id + ` do {"kind":"file_read","do":"sleep","seconds":1,"par":true,"x":"` + id + `"}`
			}
			m := &script{steps: []step{says("", call("c1"), call("c2"), call("c3")), says("done")}}
			began := time.Now()
			r := New(Options{Model: m, Tools: tools.NewRegistry(&fakeTool{}), Mode: action.ModeAll, MaxParallel: limit})
			if _, err := r.RunText(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("MaxParallel %d: %v, want %v", limit, took, want)
			}
		}
	})
}

func TestServerSideCompaction(t *testing.T) { // the message is kept and another turn follows
	synctest.Test(t, func(t *testing.T) {
		compacts := func(_ context.Context, yield func(model.Delta, error) bool) {
			m := model.Message{Role: model.Assistant, Content: "a summary"}
			m.MarkCompacted()
			yield(model.Delta{Kind: model.Done, Message: &m, Finish: model.FinishCompaction}, nil)
		}
		m := &script{steps: []step{compacts, says("done")}}
		r := New(Options{Model: m})
		var got []string
		for s := range r.RunStep(t.Context(), model.Message{Content: "go"}) {
			got = append(got, fmt.Sprintf("%T", s))
		}
		if want := []string{"agent.CompactionOccurred", "agent.FinalResponse"}; !slices.Equal(got, want) {
			t.Errorf("steps %v, want %v", got, want)
		}
		if msgs := m.requests[1].Messages; len(msgs) != 2 || msgs[1].Content != "a summary" {
			t.Errorf("sent %v", msgs)
		}
	})
}

func TestImages(t *testing.T) { // images as user input, also after a resume
	synctest.Test(t, func(t *testing.T) {
		img, err := model.NewImage([]byte("\x89PNG\r\n\x1a\nrest"))
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, withWindow(100_000), says("a cat"))
		s.do(event.Submit{Text: "what is it?", Images: []model.Image{img}})
		if msgs := s.request(); len(msgs[1].Images) != 1 {
			t.Errorf("sent %v", msgs)
		}
		s.do(event.Submit{Text: "many", Images: slices.Repeat([]model.Image{img}, turn.MaxImages+1)})
		if e, _ := find[event.Error](s); e.Text != "prompt not sent: it has 9 images (allowed: 8)" {
			t.Errorf("error %+v", e)
		}
		s.do(event.Submit{Text: "broken", Images: []model.Image{{MediaType: "image/png", Data: []byte("x")}}})
		if e, _ := find[event.Error](s); !strings.HasPrefix(e.Text, "prompt not sent: image 1: ") {
			t.Errorf("error %+v", e)
		}
		s.stop()
		again := start(t, func(o *Options) { withWindow(100_000)(o); o.Replay = s.mem.events })
		if got := again.Messages(); len(got) != 3 || len(got[1].Images) != 1 {
			t.Errorf("the replay has %v", got)
		}
		again.stop()
	})
}

// A context that ended before the run never reaches the model, however the run is driven.
func TestCancelledBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &script{}
	for range 300 {
		res, err := New(Options{Model: m}).RunText(ctx, "go")
		if !errors.Is(err, ErrCancelled) || res.Outcome != event.Cancelled {
			t.Fatalf("outcome %q, error %v", res.Outcome, err)
		}
		for step := range New(Options{Model: m}).RunStep(ctx, model.Message{Content: "go"}) {
			if f, ok := step.(Failure); !ok || !errors.Is(f.Err, ErrCancelled) || f.Result.Outcome != event.Cancelled {
				t.Fatalf("step %+v", step)
			}
		}
	}
	if len(m.requests) > 0 {
		t.Errorf("the model was asked %d times", len(m.requests))
	}
}

// The error of a prompt that can't be sent names the prompt.
func TestPromptThatCannotBeSent(t *testing.T) {
	_, err := New(Options{Model: &script{}}).RunText(t.Context(), " ")
	if err == nil || err.Error() != "prompt not sent: it is empty" {
		t.Errorf("error %v", err)
	}
}

// The error of the turn limit has the number of turns.
func TestMaxTurnsError(t *testing.T) {
	m := &script{steps: []step{says("", `c1 do {"kind":"file_read"}`), says("", `c2 do {"kind":"file_read"}`)}}
	r := New(Options{Model: m, Tools: tools.NewRegistry(&fakeTool{}), Mode: action.ModeAll, Limits: settings.Limits{MaxIterations: 2}})
	_, err := r.RunText(t.Context(), "go")
	limit, ok := errors.AsType[*MaxTurnsError](err)
	if !ok || limit.Turns != 2 || !errors.Is(err, ErrMaxTurns) || err.Error() != "max agentic loop iterations reached (2)" {
		t.Errorf("error %v", err)
	}
}

// A compaction by the server is no empty answer, even if it has no text.
func TestServerSideCompactionWithoutText(t *testing.T) {
	compacts := func(_ context.Context, yield func(model.Delta, error) bool) {
		yield(model.Delta{Kind: model.Done, Message: &model.Message{Role: model.Assistant}, Finish: model.FinishCompaction}, nil)
	}
	m := &script{steps: []step{compacts, says("done")}}
	res, err := New(Options{Model: m}).RunText(t.Context(), "go")
	if err != nil || res.Response != "done" || len(m.requests) != 2 {
		t.Fatalf("%q, %v, %d requests", res.Response, err, len(m.requests))
	}
	for _, msg := range m.requests[1].Messages {
		if strings.Contains(msg.Content, "empty") {
			t.Errorf("the model gets %q", msg.Content)
		}
	}
}
