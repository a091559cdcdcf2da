package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/settings"
	"buddy/tools"
)

// cramped is a model with a small window. It answers at random, calls a tool with large results, writes bad
// summaries, and refuses requests that do not fit. It records invalid requests.
type cramped struct {
	window int
	wrote  int // characters of the tools in each request

	mu     sync.Mutex
	random *rand.Rand
	newest string // newest prompt
	calls  int
	wrong  []string
	sent   int
}

func (s *cramped) Info() model.Info {
	return model.Info{Profile: "test", Model: "small", Window: s.window}
}

func (s *cramped) Stream(_ context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		tokens := history.Size(req.Messages) / history.CharsPerToken
		if len(req.Tools) == 0 {
			s.summary(tokens, yield)
			return
		}
		if tokens += s.wrote / history.CharsPerToken; tokens > s.window {
			s.wrong = append(s.wrong, fmt.Sprintf("a request of %d tokens for a window of %d", tokens, s.window))
			yield(model.Delta{}, &model.Error{Kind: model.ContextError, Status: 400, What: "too long"})
			return
		}
		if !hasPrompt(req.Messages, s.newest) {
			s.wrong = append(s.wrong, "the newest prompt is not whole")
		}
		s.sent++
		m := model.Message{Role: model.Assistant, Content: strings.Repeat("answer ", s.random.IntN(60))}
		for range s.random.IntN(4) - 1 {
			s.calls++
			m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: fmt.Sprint("c", s.calls), Name: "do", Arguments: fmt.Sprintf(`{"kind":"file_read","seconds":%d,"n":%d}`, s.random.IntN(12_000), s.calls)})
		}
		if m.Content == "" && m.ToolCalls == nil {
			m.Content = "ok"
		}
		yield(model.Delta{Kind: model.Done, Message: &m, Finish: "stop"}, nil)
	}
}

// summary answers a request for a summary badly.
func (s *cramped) summary(tokens int, yield func(model.Delta, error) bool) {
	m := model.Message{Role: model.Assistant}
	switch s.random.IntN(4) {
	case 0:
		m.Content = "<summary>" + strings.Repeat("much more than there was ", 2_000) + "</summary>"
	case 1:
		m.Content = "<summary>short</summary>"
	case 2:
		yield(model.Delta{}, errors.New("no summary today"))
		return
	}
	if tokens > s.window {
		yield(model.Delta{}, &model.Error{Kind: model.ContextError, Status: 400, What: "too long"})
		return
	}
	yield(model.Delta{Kind: model.Done, Message: &m, Finish: "stop"}, nil)
}

// hasPrompt reports whether messages contain a whole prompt.
func hasPrompt(msgs []model.Message, prompt string) bool {
	for _, m := range msgs {
		if m.Role == model.User && strings.HasPrefix(m.Content, prompt) {
			return true
		}
	}
	return false
}

// TestSmallWindowNeverEnds: after any history and bad summaries, a prompt of up to half of a small window is sent
// completely, in requests that fit. One that never fits is removed, and the next is sent.
func TestSmallWindowNeverEnds(t *testing.T) {
	const seeds, prompts = 40, 12
	compactions, refused := 0, 0
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			m := &cramped{window: 2_000 + r.IntN(6_001), random: r}
			tool := &talker{}
			d := tool.Definition()
			m.wrote = len(d.Name) + len(d.Description) + len(d.Parameters)
			s := start(t, func(o *Options) {
				o.Model, o.System, o.Tools, o.MaxIterations = m, strings.Repeat("be brief ", 20), tools.NewRegistry(tool), 6
				o.Context.Strategy = []settings.Strategy{settings.Summary, settings.Digest, settings.Window}[r.IntN(3)]
			})
			defer s.stop()
			for i := range prompts {
				size := 20 + r.IntN(m.window/2)
				tooLarge := r.IntN(12) == 0
				if tooLarge {
					size = m.window * 97 / 100
				}
				p := prompt(i, size)
				m.mu.Lock()
				m.newest, m.sent = p.Text, 0
				m.mu.Unlock()
				s.do(p)
				done, _ := find[event.TaskFinished](s)
				if tooLarge {
					refused++
				}
				if (done.Outcome == event.ContextLimit) != tooLarge || (m.sent == 0) != tooLarge || hasPrompt(s.Messages(), p.Text) == tooLarge && tooLarge || done.Outcome == event.Failed {
					e, _ := find[event.Error](s)
					t.Fatalf("seed %d, window %d, prompt %d of %d tokens: %+v after %d requests; the last error is %q", seed, m.window, i, size, done, m.sent, e.Text)
				}
			}
			_, n := find[event.ContextCompacted](s)
			compactions += n
			if len(m.wrong) > 0 {
				t.Fatalf("seed %d: %d requests were wrong: %s", seed, len(m.wrong), m.wrong[0])
			}
			raw, err := json.Marshal(s.Messages())
			if err != nil || len(raw) == 0 {
				t.Fatal(err)
			}
		})
	}
	if compactions < seeds || refused == 0 {
		t.Errorf("%d compactions, %d prompts were too large: the test tests nothing", compactions, refused)
	}
}
