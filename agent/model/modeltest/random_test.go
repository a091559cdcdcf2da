package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/agent/settings"
	"buddy/tools"
)

// moody plays any possible answer of a provider. Ids of calls repeat.
func moody(rng *rand.Rand) modeltest.Script {
	var mu sync.Mutex
	return func(modeltest.Request) modeltest.Answer {
		mu.Lock()
		defer mu.Unlock()
		var a modeltest.Answer
		if rng.IntN(3) == 0 {
			a = append(a, modeltest.Reasoning{Text: "hm"})
		}
		if rng.IntN(3) > 0 {
			a = append(a, modeltest.Text(strings.Repeat("words ", 1+rng.IntN(150))))
		}
		for range max(0, rng.IntN(5)-1) {
			a = append(a, modeltest.Call{
				ID: fmt.Sprint("c", rng.IntN(9)), Name: []string{"clock", "clock", "nothing"}[rng.IntN(3)],
				Arguments: []string{"{}", "{}", `{"a":1}`, "not json", ""}[rng.IntN(5)],
			})
		}
		switch rng.IntN(14) {
		case 0:
			a = append(a, modeltest.Cut{})
		case 1:
			a = append(a, modeltest.ErrorObject(`{"type":"server_error","message":"sorry"}`))
		case 2:
			a = append(a, modeltest.Finish("length"))
		case 3:
			return modeltest.Answer{modeltest.Status{Code: 400, Body: `{"error":{"message":"maximum context length is 10 tokens","code":"context_length_exceeded"}}`}}
		case 4:
			return modeltest.Answer{modeltest.Status{Code: 500, Body: "no"}}
		case 5:
			a = append(a, modeltest.End{})
		}
		return append(a, modeltest.Usage{Prompt: 400, Completion: 20})
	}
}

// lines is a journal in memory.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Append(env event.Envelope) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	enc := json.NewEncoder(&l.buf)
	enc.SetEscapeHTML(false)
	return enc.Encode(env)
}

func (l *lines) Range(uint64, func(event.Envelope) bool) error { return nil }

// upTo returns the events in the complete lines of the first n bytes.
func (l *lines) upTo(t *testing.T, n int) []event.Envelope {
	t.Helper()
	var all []event.Envelope
	for line := range bytes.Lines(l.buf.Bytes()[:n]) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var env event.Envelope
		if err := json.Unmarshal(line, &env); err != nil {
			t.Fatal(err)
		}
		all = append(all, env)
	}
	return all
}

// TestAnythingOnTheWire is the property test of package agent with real requests: whatever the model answers, and
// wherever the journal is cut, the server accepts the next request, in each protocol.
func TestAnythingOnTheWire(t *testing.T) {
	seeds := 25
	if testing.Short() {
		seeds = 5
	}
	modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(uint64(seed), 11))
			srv := modeltest.Start(t, moody(rand.New(rand.NewPCG(uint64(seed), 12))))
			stored := &lines{}
			for range 3 { // lives of the program
				rt := agent.New(agent.Options{
					Session: "s", Model: windowed{p.Connect(t, srv.URL)}, Tools: tools.NewRegistry(clock{}), Journal: stored,
					System: "You tell the time.", Limits: settings.Limits{MaxIterations: 5}, Mode: action.ModeAll, Replay: stored.upTo(t, stored.buf.Len()),
				})
				_, _ = rt.Continue(t.Context())
				for range 3 {
					_, _ = rt.RunText(t.Context(), "what time is it? "+strings.Repeat("please ", rng.IntN(100)))
				}
				if err := rt.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				stored.buf.Truncate(rng.IntN(stored.buf.Len() + 1))
				if end := bytes.LastIndexByte(stored.buf.Bytes(), '\n'); end >= 0 {
					stored.buf.Truncate(end + 1) // a torn line is removed when the file is opened
				} else {
					stored.buf.Reset()
				}
			}
			for i, r := range srv.Requests() {
				if r.Refused != nil {
					t.Fatalf("seed %d, request %d: %v in %s", seed, i, r.Refused, r.Body)
				}
			}
			if n := len(srv.Requests()); n < 9 {
				t.Errorf("seed %d: only %d requests", seed, n)
			}
		}
	})
}

// windowed is a model with a small window, so that conversations are compacted.
type windowed struct{ model.Model }

func (w windowed) Info() model.Info {
	i := w.Model.Info()
	i.Window = 1500
	return i
}

// BenchmarkFiftyTurns runs a task of fifty tool turns over a local connection.
func BenchmarkFiftyTurns(b *testing.B) {
	for _, p := range modeltest.Protocols {
		b.Run(p.Name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			srv := modeltest.Start(b, func(modeltest.Request) modeltest.Answer {
				if n++; n%51 == 0 {
					return modeltest.Answer{modeltest.Text("done"), modeltest.Usage{Prompt: 100, Completion: 1}}
				}
				return modeltest.Answer{modeltest.Call{ID: fmt.Sprint("c", n), Name: "clock", Arguments: "{}"}, modeltest.Usage{Prompt: 100, Completion: 1}}
			})
			for b.Loop() {
				rt := agent.New(agent.Options{Model: p.Connect(b, srv.URL), Tools: tools.NewRegistry(clock{}), Mode: action.ModeAll})
				if res, err := rt.RunText(context.Background(), "go"); err != nil || res.Turns != 51 {
					b.Fatal(res.Turns, err)
				}
				_ = rt.Close(context.Background())
			}
		})
	}
}
