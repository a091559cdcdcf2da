package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/settings"
	"buddy/tools"
)

// windowed is a model with its own context window, in tokens.
type windowed struct {
	*script
	tokens int
}

func (w windowed) Info() model.Info {
	return model.Info{Profile: "test", Model: "scripted", Window: w.tokens}
}

func withWindow(tokens int) func(*Options) {
	return func(o *Options) {
		o.Model, o.System = windowed{o.Model.(*script), tokens}, "be brief"
		o.Context.Strategy = settings.Digest
	}
}

// uncounted is says without a usage, so that nothing is calibrated.
func uncounted(text string, calls ...string) step {
	told := says(text, calls...)
	return func(ctx context.Context, yield func(model.Delta, error) bool) {
		told(ctx, func(d model.Delta, err error) bool { d.Usage = nil; return yield(d, err) })
	}
}

func answers(n int) []step { return slices.Repeat([]step{uncounted("ok")}, n) }

// prompt is a prompt with about this many tokens.
func prompt(n, tokens int) event.Submit {
	return event.Submit{Text: fmt.Sprintf("prompt %d %s", n, strings.Repeat("x", 4*tokens-20))}
}

func (s *session) request() []model.Message {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	return s.model.requests[len(s.model.requests)-1].Messages
}

func TestAutomaticCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withWindow(1000), answers(8)...)
		for i := range 5 {
			s.do(prompt(i, 160))
		}
		if w, n := find[event.Warning](s); n != 1 || w.Code != "context" || !strings.Contains(w.NextStep, "/compact") || !strings.Contains(w.NextStep, "/session new") ||
			!regexp.MustCompile(`: 8\d%, about 8\d\d of 1000 tokens$`).MatchString(w.Text) {
			t.Errorf("%d warnings, the last %+v", n, w)
		}
		if _, n := find[event.ContextCompacted](s); n != 0 {
			t.Fatal("compacted below the hard threshold")
		}
		s.do(prompt(5, 160))
		c, n := find[event.ContextCompacted](s)
		if n != 1 || c.Before < 950 || c.After > 820 || c.Turns != 3 || c.Removed != 5 {
			t.Errorf("%d compactions, the last %+v", n, c)
		}
		msgs := s.request()
		if msgs[1].Content != c.Summary || msgs[1].Role != model.System || !strings.HasPrefix(msgs[2].Content, "prompt 0") || !strings.HasPrefix(msgs[3].Content, "prompt 3") {
			t.Errorf("sent %.200q", fmt.Sprint(msgs))
		}
		if u, _ := find[event.ContextUsage](s); u.Percent > 95 {
			t.Errorf("usage after the compaction: %+v", u)
		}
		s.stop()
	})
}

// Each request reports how full the context is and the next step; the person is warned once at each grade that needs
// it.
func TestHealthOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { withWindow(1000)(o); o.Context.Strategy = settings.Keep }, answers(12)...)
		for i := range 10 {
			s.do(prompt(i, 86))
		}
		grades, texts := make(map[event.Health]bool), []string(nil)
		s.mu.Lock()
		for _, env := range s.seen {
			switch p := env.Payload.(type) {
			case event.ContextUsage:
				grades[p.Health] = true
				if (p.Health == event.Healthy) != (p.NextStep == "") || p.Health != event.Healthy && !strings.Contains(p.NextStep, "/compact") {
					t.Errorf("use %+v", p)
				}
			case event.Warning:
				texts = append(texts, p.Text)
			}
		}
		s.mu.Unlock()
		for _, g := range []event.Health{event.Healthy, event.Hint, event.Warned, event.Critical} {
			if !grades[g] {
				t.Errorf("no request was %q", g)
			}
		}
		if len(texts) != 2 || !strings.HasPrefix(texts[0], "the context is filling up: 8") || !strings.HasPrefix(texts[1], "the context is nearly full: 9") {
			t.Errorf("warned %q", texts)
		}
		s.stop()
	})
}

func TestContextLimit(t *testing.T) { // nothing is sent
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withWindow(1000), answers(1)...)
		s.do(prompt(1, 980))
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.ContextLimit {
			t.Errorf("outcome %s, want context_limit", done.Outcome)
		}
		if e, _ := find[event.Error](s); e.Code != "context_limit" || !strings.Contains(e.Text, "of 1000 tokens") || e.NextStep == "" {
			t.Errorf("error %+v", e)
		}
		if n := len(s.model.requests); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
		s.stop()
	})
}

func TestAssumedWindowStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withWindow(0), answers(1)...)
		s.do(prompt(1, 12_000))
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.Completed || len(s.model.requests) != 1 {
			t.Errorf("outcome %s after %d requests", done.Outcome, len(s.model.requests))
		}
		if w, n := find[event.Warning](s); n != 0 {
			t.Errorf("%d warnings, the last %+v", n, w)
		}
		s.stop()
	})
}

// described is a model with configurable information.
type described struct {
	*script
	info model.Info
}

func (d described) Info() model.Info { return d.info }

func TestAnUnknownWindowIsSaidOnceForAModel(t *testing.T) {
	unknown := func(name string) model.Info { return model.Info{Profile: "p-" + name, Model: name, API: "responses"} }
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) {
			answers := o.Model.(*script)
			o.Model = described{answers, unknown("one")}
			o.Models = func(profile, _ string) (model.Model, error) {
				info := unknown(strings.TrimPrefix(profile, "p-"))
				if profile == "p-known" {
					info.Window = 1000
				}
				return described{answers, info}, nil
			}
		}
		s := start(t, options, answers(6)...)
		told := func(what string, s *session, want int) {
			t.Helper()
			if n := len(unknownWindows(s)); n != want {
				t.Errorf("%s: said %d times, not %d: %q", what, n, want, unknownWindows(s))
			}
		}
		told("before the first request", s, 0)
		s.do(prompt(1, 50))
		s.do(prompt(2, 50))
		told("two prompts", s, 1)
		if now := unknownWindows(s)[0]; !strings.Contains(now, "the context window of one") || !strings.Contains(now, "context_limit in the profile p-one") {
			t.Errorf("said %q", now)
		}
		s.do(event.SwitchModel{Profile: "p-one"}, prompt(3, 50))
		told("the same model again", s, 1)
		s.do(event.SwitchModel{Profile: "p-known"})
		if u, _ := find[event.ContextUsage](s); u.Limit != 1000 || u.Percent == 0 {
			t.Errorf("after the switch the use is %+v, not of the new window", u)
		}
		s.do(prompt(4, 50))
		told("a model with a window", s, 1)
		s.do(event.SwitchModel{Profile: "p-two"}, prompt(5, 50))
		told("another model without a window", s, 2)
		s.do(event.SwitchModel{Profile: "p-one"}, prompt(6, 50))
		told("the first one again", s, 2)
		s.stop()

		again := start(t, func(o *Options) {
			o.Model, o.Replay = described{o.Model.(*script), unknown("two")}, s.mem.events
		}, answers(1)...)
		again.do(prompt(7, 50))
		told("resumed", again, 0)
		again.stop()
	})
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Model = described{o.Model.(*script), model.Info{Model: "demo", API: model.Demo}} }, answers(1)...)
		s.do(prompt(1, 50))
		if n := len(unknownWindows(s)); n != 0 {
			t.Errorf("said %d times of the demo", n)
		}
		s.stop()
	})
}

// A model that was chosen as NAME/MODEL has no profile with settings.
func TestAnUnknownWindowOfAModelWithoutAProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			o.Model = described{o.Model.(*script), model.Info{Profile: "work/one", Model: "one", API: "responses"}}
		}, answers(1)...)
		s.do(prompt(1, 50))
		if all := unknownWindows(s); len(all) != 1 || !strings.HasSuffix(all[0], "context_limit in a profile for it sets it") {
			t.Errorf("said %q", all)
		}
		s.stop()
	})
}

// unknownWindows returns the notices about unknown context windows.
func unknownWindows(s *session) (texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.seen {
		if n, ok := env.Payload.(event.Notice); ok && n.Code == "window" {
			texts = append(texts, n.Text)
		}
	}
	return texts
}

func TestCompactCommand(t *testing.T) { // forced, and it reports when nothing can be removed
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withWindow(100_000), answers(8)...)
		for i := range 3 {
			s.do(prompt(i, 160))
		}
		s.do(event.Compact{})
		if n, count := find[event.Notice](s); count != 1 || !strings.Contains(n.Text, "nothing to compact") {
			t.Errorf("%d notices, the last %+v", count, n)
		}
		for i := range 5 {
			s.do(prompt(3+i, 160))
		}
		s.do(event.Compact{})
		c, n := find[event.ContextCompacted](s)
		if n != 1 || c.Removed != 9 || c.After == 0 {
			t.Errorf("%d compactions, the last %+v", n, c)
		}
		if u, _ := find[event.ContextUsage](s); u.Estimated != c.After {
			t.Errorf("usage %+v, want %d tokens", u, c.After)
		}
		s.stop()
	})
}

// finder is a grep with large results.
type finder struct{ fakeTool }

func (*finder) Definition() model.ToolDef {
	return model.ToolDef{Name: "grep", Parameters: json.RawMessage(`{}`)}
}

func (*finder) Run(context.Context, tools.Call) tools.Result {
	return tools.Result{Content: strings.Repeat("a.go:1:match\n", 300)}
}

func TestReplayRepeatsCompactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) {
			withWindow(12_000)(o)
			o.Tools = tools.NewRegistry(&finder{})
		}
		var steps []step
		for i := range 12 {
			steps = append(steps, uncounted("", fmt.Sprintf(`c%d grep {"kind":"file_read"}`, i)), uncounted("found"))
		}
		s := start(t, options, steps...)
		for i := range 12 {
			s.do(prompt(i, 300))
			if i == 5 {
				s.do(event.Compact{})
			}
		}
		if m, n := find[event.MicroCompacted](s); n == 0 || m.CallIDs[0] == "" {
			t.Errorf("%d times old results were cleared, last %v", n, m.CallIDs)
		}
		if _, n := find[event.ContextCompacted](s); n == 0 {
			t.Error("nothing was compacted")
		}
		want := s.Messages()
		if !slices.ContainsFunc(want, func(m model.Message) bool { return m.Content == history.Cleared }) {
			t.Error("no cleared result is left to be compared")
		}
		s.stop()

		again := start(t, func(o *Options) { options(o); o.Replay = s.mem.events }, answers(1)...)
		if got := again.Messages(); !reflect.DeepEqual(got, want) {
			t.Errorf("the replay has %d messages, want %d", len(got), len(want))
		}
		again.do(event.Submit{Text: "go on"})
		again.stop()
	})
}

func TestBadCompactionInAJournal(t *testing.T) { // someone changed the file
	synctest.Test(t, func(t *testing.T) {
		replay := []event.Envelope{
			{Seq: 1, Payload: event.PromptSubmitted{ID: 1, Text: "one"}},
			{Seq: 2, Payload: event.ContextCompacted{Boundary: 7, Kept: []int{-1}}},
			{Seq: 3, Payload: event.MicroCompacted{CallIDs: []string{"nobody"}}},
		}
		s := start(t, func(o *Options) { o.Replay = replay }, says("fine"))
		s.do(event.Submit{Text: "two"})
		if got := s.request(); len(got) != 2 || got[0].Content != "one" {
			t.Errorf("sent %+v", got)
		}
		s.stop()
	})
}
