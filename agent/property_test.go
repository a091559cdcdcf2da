package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/settings"
	"buddy/tools"
)

// validate returns violations of the providers' rules for a conversation: each call is answered once, immediately and
// in order; ids are unique; system messages come first; no message is empty; and it is the model's turn.
func validate(msgs []model.Message) error {
	ids, talk := make(map[string]bool), false
	for i := 0; i < len(msgs); i++ {
		m := msgs[i]
		switch {
		case m.Role == model.System && talk:
			return fmt.Errorf("message %d: a system message after the beginning", i)
		case m.Role == model.Tool:
			return fmt.Errorf("message %d: a result without its call", i)
		case strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0:
			return fmt.Errorf("message %d of %s is empty", i, m.Role)
		}
		talk = talk || m.Role != model.System
		for _, c := range m.ToolCalls {
			i++
			switch {
			case c.ID == "" || c.Name == "" || ids[c.ID]:
				return fmt.Errorf("call %q (%q) has no name or an id that was used", c.ID, c.Name)
			case i >= len(msgs) || msgs[i].Role != model.Tool || msgs[i].ToolCallID != c.ID:
				return fmt.Errorf("call %q has no result at message %d", c.ID, i)
			case msgs[i].Content == "":
				return fmt.Errorf("the result of call %q is empty", c.ID)
			}
			ids[c.ID] = true
		}
	}
	if n := len(msgs); n == 0 || msgs[n-1].Role == model.Assistant || msgs[n-1].Role == model.System {
		return errors.New("it is not the model's turn")
	}
	return nil
}

// fickle is a model with any possible behaviour of a model or network, which checks its requests.
type fickle struct {
	mu  sync.Mutex
	rng *rand.Rand
	bad []string
	n   int
}

func (*fickle) Info() model.Info { return model.Info{Model: "fickle", Window: 3000} }

func (f *fickle) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	stays := req.Messages[:len(req.Messages)-req.Ephemeral]
	if strings.Contains(fmt.Sprint(stays), "[screen]") {
		f.bad = append(f.bad, fmt.Sprintf("request %d: what was of one moment only has stayed\n%v", f.n, stays))
	}
	if err := validate(req.Messages); err != nil {
		f.bad = append(f.bad, fmt.Sprintf("request %d: %v\n%v", f.n, err, req.Messages))
	}
	plan := f.plan()
	return func(yield func(model.Delta, error) bool) { plan(ctx, yield) }
}

// plan plans one answer.
func (f *fickle) plan() step {
	text := strings.Repeat("words ", f.rng.IntN(80))
	pause := time.Duration(f.rng.IntN(1500)) * time.Millisecond
	var calls []model.ToolCall
	for range f.rng.IntN(4) {
		// Ids repeat within an answer and between answers, and some are missing.
		calls = append(calls, model.ToolCall{ID: fmt.Sprint("c", f.rng.IntN(6))[:f.rng.IntN(3)], Name: "do", Arguments: f.arguments()})
	}
	kind := f.rng.IntN(12)
	if kind < 6 {
		calls = nil
	}
	return func(ctx context.Context, yield func(model.Delta, error) bool) {
		for w := range strings.SplitAfterSeq(text, " ") {
			if w != "" && !yield(model.Delta{Kind: model.Text, Text: w}, nil) {
				return
			}
		}
		for _, c := range calls {
			if !yield(model.Delta{Kind: model.CallReady, Call: &c}, nil) {
				return
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			yield(model.Delta{}, ctx.Err())
			return
		}
		switch kind {
		case 0:
			yield(model.Delta{}, errors.New("the line broke"))
			return
		case 1:
			yield(model.Delta{}, &model.Error{Kind: model.ContextError, Status: 400, What: "too long"})
			return
		case 6:
			if !yield(model.Delta{Kind: model.Retry, Retry: &model.RetryNotice{Attempt: 1}}, nil) {
				return
			}
		}
		finish := []string{"stop", "tool_calls", "length", "content_filter", ""}[min(kind, 4)*(kind%2)]
		m := model.Message{Role: model.Assistant, Content: text, ToolCalls: slices.Clone(calls)}
		yield(model.Delta{Kind: model.Done, Message: &m, Finish: finish, Usage: &model.Usage{Prompt: 500, Completion: 20}}, nil)
	}
}

func (f *fickle) arguments() string {
	return []string{
		`{"kind":"file_read","do":"echo","par":true}`, `{"kind":"file_read","do":"echo"}`, `{"kind":"shell","do":"echo"}`,
		`{"kind":"shell","do":"hang"}`, `{"kind":"file_read","do":"fail"}`, `{"kind":"file_read","do":"panic"}`,
		`{"kind":"file_read","do":"sleep","seconds":2,"par":true}`, `not json`, ``,
	}[f.rng.IntN(9)]
}

// act does a random action of a person or a program.
func act(s *session, rng *rand.Rand) {
	switch rng.IntN(12) {
	case 0, 1, 2:
		s.do(event.Submit{Text: "prompt " + strings.Repeat("x", rng.IntN(900))})
	case 3:
		s.do(event.Submit{Text: "beside", Background: true})
	case 4:
		s.do(event.Cancel{Task: rng.IntN(3)})
	case 5:
		s.do(event.Compact{})
	case 6:
		s.do(event.Pin{Back: 1 + rng.IntN(3), Off: rng.IntN(2) == 0})
	case 7:
		_ = s.Inject(model.Message{Content: "by the way"})
	case 8:
		s.do(event.Continue{})
	case 9:
		s.do(event.Unqueue{ID: rng.IntN(20)})
	default:
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
	}
	var open []string
	s.mu.Lock()
	seen := slices.Clone(s.seen) // more may come after a sleep
	s.mu.Unlock()
	for _, env := range seen {
		switch p := env.Payload.(type) {
		case event.ApprovalAsked:
			open = append(open, p.ID)
		case event.ApprovalAnswered:
			open = slices.DeleteFunc(open, func(id string) bool { return id == p.ID })
		}
	}
	for _, id := range open {
		if rng.IntN(3) == 0 {
			continue
		}
		s.do(event.AnswerApproval{ID: id, Decision: []event.Decision{event.Once, event.Deny}[rng.IntN(2)], Reason: "why not"})
	}
}

// torn returns the complete lines of a journal that was cut at a random byte.
func torn(t *testing.T, events []event.Envelope, rng *rand.Rand) []event.Envelope {
	var file bytes.Buffer
	for _, env := range events {
		line, err := json.Marshal(env)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(line, '\n'))
	}
	data := file.Bytes()[:rng.IntN(file.Len()+1)]
	var out []event.Envelope
	for line := range bytes.Lines(data) {
		var env event.Envelope
		if err := json.Unmarshal(line, &env); err == nil && bytes.HasSuffix(line, []byte("\n")) {
			out = append(out, env)
		}
	}
	return out
}

// TestAnythingMayHappen is the most important property: whatever a model, a network, a person or a crash does, the
// next request is a valid conversation.
func TestAnythingMayHappen(t *testing.T) {
	runs := 60
	if testing.Short() {
		runs = 10
	}
	for seed := range runs {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 7))
			var stored []event.Envelope
			for range 3 { // processes
				f := &fickle{rng: rand.New(rand.NewPCG(uint64(seed), rng.Uint64()))}
				s := start(t, func(o *Options) {
					o.Model, o.Tools, o.Replay = f, tools.NewRegistry(&fakeTool{}), slices.Clone(stored)
					o.System, o.MaxIterations = "be brief", 6
					if seed%2 == 0 {
						o.Reminders = anyReminders(rng.Uint64())
					}
					o.Context = settings.Context{Strategy: []settings.Strategy{settings.Summary, settings.Digest, settings.Window}[seed%3]}
				})
				for range 25 {
					act(s, rng)
				}
				s.stop()
				if f.n == 0 {
					t.Errorf("seed %d: nothing was asked", seed)
				}
				for _, b := range f.bad {
					t.Errorf("seed %d: %s", seed, b)
				}
				stored = torn(t, append(stored, s.mem.events...), rng)
			}
		})
		if t.Failed() {
			return
		}
	}
}

// anyReminders returns random reminders of both kinds.
func anyReminders(seed uint64) *reminder.Set {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 9))
	sometimes := func(text string) func(context.Context, reminder.Snapshot) reminder.Said {
		return func(context.Context, reminder.Snapshot) reminder.Said {
			mu.Lock()
			defer mu.Unlock()
			if rng.IntN(2) == 0 {
				return reminder.Said{}
			}
			return reminder.Said{Text: text, State: fmt.Sprint(rng.Uint32())}
		}
	}
	return reminder.NewSet(nil, append(reminder.Own(),
		reminder.Generator{Kind: reminder.ChangedFiles, Say: sometimes("a file changed </system-reminder>")},
		reminder.Generator{Kind: "screen", Say: sometimes("[screen]")})...)
}

// FuzzReplay: a journal from anybody never causes a panic or an invalid history.
func FuzzReplay(f *testing.F) {
	for _, line := range []string{
		`{"type":"prompt.submitted","payload":{"id":1,"text":"go"}}`,
		`{"type":"model.message","payload":{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"do","arguments":"{}"}}]}}}`,
		`{"type":"tool.result","payload":{"call_id":"a","name":"do","result":"x"}}`,
		`{"type":"context.compacted","payload":{"boundary":2,"kept":[0],"summary":"s","restored":"r"}}`,
		`{"type":"branch.started","payload":{"branch":1}}`,
		`{"branch":1,"type":"model.message","payload":{"message":{"role":"assistant","content":"x"}}}`,
		`{"type":"context.pinned","payload":{"back":1}}`,
		`{"type":"task.started","payload":{"id":-5,"kind":"main"}}`,
	} {
		f.Add([]byte(line + "\n" + line))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var events []event.Envelope
		for line := range bytes.Lines(data) {
			var env event.Envelope
			if err := json.Unmarshal(line, &env); err == nil {
				events = append(events, env)
			}
		}
		r := New(Options{Model: &script{}, System: "be brief", Replay: events})
		next := event.PromptSubmitted{Text: "and now?"}
		for _, b := range r.tasks.forks {
			for _, c := range b.conv.Open() {
				b.conv.StoreResult(0, 0, c.Arguments, event.ToolResult{CallID: c.ID, Name: c.Name, Result: "closed"})
			}
			b.conv.Enter(0, next, event.Opening, "")
			if err := validate(b.conv.Messages()); err != nil {
				t.Error(err)
			}
		}
		r.tasks.main.conv.Enter(0, next, event.Opening, "")
		if err := validate(r.Messages()); err != nil {
			t.Error(err)
		}
	})
}
