package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/usage"
)

// priced is a model that costs one dollar per million input tokens, ten cents per million cached ones, and five
// dollars per million output tokens.
type priced struct{ model.Model }

func (p priced) Info() model.Info {
	i := p.Model.Info()
	i.Price = model.Price{Input: model.Dollar, Cached: model.Dollar / 10, CacheWrite: model.Dollar, Output: 5 * model.Dollar}
	return i
}

func withPrice(o *Options) { o.Model = priced{o.Model} }

// uses is says with a usage.
func uses(u model.Usage, text string, calls ...string) step {
	told := says(text, calls...)
	return func(ctx context.Context, yield func(model.Delta, error) bool) {
		told(ctx, func(d model.Delta, err error) bool {
			if d.Kind == model.Done {
				d.Usage = &u
			}
			return yield(d, err)
		})
	}
}

// TestUsage: tokens, money and tools of requests, tasks and the session.
func TestUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withPrice,
			uses(model.Usage{Prompt: 1000, Completion: 100}, "", `c1 do {"kind":"file_read","do":"echo"}`, `c2 nothing {}`),
			uses(model.Usage{Prompt: 2000, Cached: 1000, Completion: 10}, "one"),
			uses(model.Usage{Prompt: 3000, Cached: 3000, Completion: 20}, "two"))
		s.do(event.Submit{Text: "go"})
		first := turns(s)
		if len(first) != 2 || first[0].Cost != 1500 || first[1].Cost != 1000+100+50 {
			t.Errorf("turns %+v", first)
		}
		u, _ := find[event.MetricsUsage](s)
		nothing := "Tool error: unknown tool: nothing (have: do)"
		want := event.MetricsUsage{
			Model:  "scripted",
			Prompt: 2000, Completion: 10, Cached: 1000, Cost: 1150,
			SessionPrompt: 3000, SessionCompletion: 110, SessionCached: 1000, SessionCost: 2650,
			PerTool: []event.ToolUse{{Name: "nothing", Tokens: len(nothing) / 4, Calls: 1}, {Name: "do", Tokens: len("done c1") / 4, Calls: 1}},
		}
		if !reflect.DeepEqual(u, want) {
			t.Errorf("usage %+v\nwant  %+v", u, want)
		}
		for _, part := range []string{
			"Session: 3.0k tokens in (1.0k cached), 110 out, $0.0027\n  Turns: 2",
			"This prompt: 3.0k tokens in (1.0k cached), 110 out, $0.0027; largest results: nothing 11 tokens in 1 call, do 1 tokens in 1 call",
		} {
			if text := textOf(Status(s.Runtime)); !strings.Contains(text, part) {
				t.Errorf("status %s\nlacks %s", text, part)
			}
		}
		s.do(event.Submit{Text: "again"}) // the usage of tools restarts
		if u, _ := find[event.MetricsUsage](s); u.PerTool != nil || u.SessionCost != 2650+300+100 {
			t.Errorf("usage in the next task %+v", u)
		}
		if text := textOf(ContextUse(s.Runtime)); !strings.Contains(text, "Last request: 3.0k tokens in (3.0k cached), 20 out, $0.0004") ||
			!strings.Contains(text, "This prompt: 3.0k tokens in (3.0k cached), 20 out, $0.0004") ||
			!strings.Contains(text, "Session: 6.0k tokens in (4.0k cached), 130 out, $0.0031") {
			t.Errorf("context %s", text)
		}
		s.stop()

		// Another process continues with the totals of the session, at another price.
		again := start(t, func(o *Options) { o.Replay = s.mem.events }, uses(model.Usage{Prompt: 5, Completion: 1}, "three"))
		again.do(event.Submit{Text: "go on"})
		u, _ = find[event.MetricsUsage](again)
		if u.SessionPrompt != 6005 || u.SessionCost != 3050 || u.Cost != 0 || u.SessionUnpriced != 1 {
			t.Errorf("usage after a resume %+v", u)
		}
		if text := textOf(ContextUse(again.Runtime)); !strings.Contains(text, "Last request: 5 tokens in, 1 out\n") ||
			!strings.Contains(text, "$0.0031 (requests without a known price: 1)") {
			t.Errorf("context of a model without a price: %s", text)
		}
		again.stop()
	})
}

func turns(s *session) (all []event.TurnFinished) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.seen {
		if p, ok := env.Payload.(event.TurnFinished); ok {
			all = append(all, p)
		}
	}
	return all
}

// TestFallbackIsPaidAtItsPrice: the fallback has its own price, and its tokens do not calibrate the other model's
// estimate.
func TestFallbackIsPaidAtItsPrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := &script{steps: []step{uses(model.Usage{Prompt: 1_000_000}, "ok")}}
		s := start(t, func(o *Options) {
			withPrice(o)
			recovering(other, "")(o)
		}, overloads(2)...)
		s.do(event.Submit{Text: "go"})
		time.Sleep(10 * time.Second)
		s.do()
		if u, _ := find[event.MetricsUsage](s); u.Prompt != 1_000_000 || u.Cost != 0 || u.SessionUnpriced != 1 {
			t.Errorf("usage %+v", u)
		}
		if tokens := s.tasks.tree.Main().Tokens(); tokens > 100 {
			t.Errorf("the estimate became %d tokens", tokens)
		}
		s.stop()
	})
}

// TestBudgets: a warning at four fifths or the configured percentage, once; then the end, with the largest tools.
func TestBudgets(t *testing.T) {
	tests := []struct {
		name     string
		options  func(*Options)
		requests int
		outcome  event.Outcome
		err      error
		warning  event.BudgetWarning
	}{
		{
			"turns", func(o *Options) { o.MaxIterations = 10 }, 10, event.MaxTurns, ErrMaxTurns,
			event.BudgetWarning{Kind: event.TurnBudget, Used: 8, Limit: 10},
		},
		{
			"turns, warned at half of them", func(o *Options) { o.MaxIterations, o.WarnAt = 10, 50 }, 10, event.MaxTurns, ErrMaxTurns,
			event.BudgetWarning{Kind: event.TurnBudget, Used: 5, Limit: 10},
		},
		{"turns, never warned", func(o *Options) { o.MaxIterations, o.WarnAt = 10, 100 }, 10, event.MaxTurns, ErrMaxTurns, event.BudgetWarning{}},
		{"few turns need no warning", func(o *Options) { o.MaxIterations = 4 }, 4, event.MaxTurns, ErrMaxTurns, event.BudgetWarning{}},
		{
			"cost", func(o *Options) { o.MaxCost = 9000 }, 9, event.MaxCost, ErrMaxCost,
			event.BudgetWarning{Kind: event.CostBudget, Used: 8000, Limit: 9000},
		},
		{"cost at once", func(o *Options) { o.MaxCost = 1 }, 1, event.MaxCost, ErrMaxCost, event.BudgetWarning{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var steps []step
				for i := range 30 {
					steps = append(steps, uses(model.Usage{Prompt: 1000}, "", fmt.Sprintf(`c%d do {"kind":"file_read","do":"echo","n":%d}`, i, i)))
				}
				s := start(t, func(o *Options) {
					o.MaxIterations = 0
					withPrice(o)
					tt.options(o)
				}, steps...)
				res, err := s.RunText(t.Context(), "loop")
				s.do()
				if n := len(s.model.requests); n != tt.requests || res.Outcome != tt.outcome || !errors.Is(err, tt.err) {
					t.Errorf("%d requests, %s, %v; want %d, %s, %v", n, res.Outcome, err, tt.requests, tt.outcome, tt.err)
				}
				w, n := find[event.BudgetWarning](s)
				if done := int(tt.warning.Used); tt.warning.Limit > 0 {
					if tt.outcome == event.MaxCost {
						done /= 1000 // cost of a turn
					}
					tt.warning.TopTools = []event.ToolUse{{Name: "do", Tokens: done * (len("done c1") / 4), Calls: done}}
				}
				if n > 1 || !reflect.DeepEqual(w, tt.warning) {
					t.Errorf("%d warnings, %+v, want %+v", n, w, tt.warning)
				}
				if x, n := find[event.BudgetExceeded](s); n != 1 || x.Used < x.Limit || len(x.TopTools) != 1 {
					t.Errorf("%d times exceeded, %+v", n, x)
				}
				if m, n := find[event.MaxTurnsReached](s); (n == 1) != (tt.outcome == event.MaxTurns) || n == 1 && (len(m.TopTools) != 1 || m.TopTools[0].Calls != tt.requests) {
					t.Errorf("max_turns_reached %d times: %+v", n, m)
				}
				checkPairs(t, res.Messages)
				s.stop()
			})
		})
	}
}

// TestCostOfUnknownPrice: a limit that can't be checked causes one warning.
func TestCostOfUnknownPrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.MaxCost, o.Mode = 1, action.ModeAll }, says("", `c1 do {"kind":"shell","do":"echo"}`), says("one"), says("two"))
		s.do(event.Submit{Text: "go"})
		s.do(event.Submit{Text: "again"})
		if w, n := find[event.Warning](s); n != 1 || !strings.Contains(w.Text, "scripted") || !strings.Contains(w.NextStep, "price_input") {
			t.Errorf("%d warnings, %+v", n, w)
		}
		if f, _ := find[event.TaskFinished](s); f.Outcome != event.Completed || len(s.model.requests) != 3 {
			t.Errorf("%+v after %d requests", f, len(s.model.requests))
		}
		s.stop()
	})
}

// TestTasksKeepTheirOwnCount: a background task has its own budget and tools; the session counts both.
func TestTasksKeepTheirOwnCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := `c1 do {"kind":"file_read","do":"echo"}`
		s := start(t, func(o *Options) {
			withPrice(o)
			o.MaxCost = 2000
		},
			uses(model.Usage{Prompt: 1500}, "", look, `c2 do {"kind":"shell","do":"echo"}`), // waits for a person
			uses(model.Usage{Prompt: 1500}, "", look), uses(model.Usage{Prompt: 400}, "beside"),
			uses(model.Usage{Prompt: 700}, "", look))
		s.do(event.Submit{Text: "go"})
		s.do(event.Submit{Text: "beside", Background: true})
		if f, _ := find[event.TaskFinished](s); f.ID != 2 || f.Outcome != event.Completed {
			t.Errorf("the task in the background: %+v", f)
		}
		asked, _ := find[event.ApprovalAsked](s)
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		if f, _ := find[event.TaskFinished](s); f.ID != 1 || f.Outcome != event.MaxCost {
			t.Errorf("the main task: %+v", f)
		}
		u, _ := find[event.MetricsUsage](s)
		if u.SessionCost != 1500+1500+400+700 || len(u.PerTool) != 1 || u.PerTool[0].Tokens != 2*(len("done c1")/4) {
			t.Errorf("usage %+v", u)
		}
		if x, n := find[event.BudgetExceeded](s); n != 1 || x.Used != 2200 || x.Limit != 2000 {
			t.Errorf("%d budgets exceeded, %+v", n, x)
		}
		s.stop()
	})
}

// TestTurnLimitOffersToGoOn: Continue grants a stopped exchange as many turns again, in this process and in the next
// one.
func TestTurnLimitOffersToGoOn(t *testing.T) {
	loop := func(n int) (steps []step) {
		for i := range n {
			steps = append(steps, says("", fmt.Sprintf(`c%d do {"kind":"file_read","do":"echo","n":%d}`, i, i)))
		}
		return steps
	}
	ended := func(s *session, outcome event.Outcome, requests int) {
		t.Helper()
		if f, _ := find[event.TaskFinished](s); f.Outcome != outcome || len(s.model.requests) != requests {
			t.Errorf("%s after %d requests, not %s after %d", f.Outcome, len(s.model.requests), outcome, requests)
		}
	}
	three := func(o *Options) { o.MaxIterations = 3 }
	synctest.Test(t, func(t *testing.T) {
		s := start(t, three, append(loop(6), says("done"))...)
		s.do(event.Submit{Text: "go"})
		ended(s, event.MaxTurns, 3)
		stopped := slices.Clone(s.mem.events)
		s.do(event.Continue{})
		ended(s, event.MaxTurns, 6)
		s.do(event.Continue{})
		ended(s, event.Completed, 7)
		s.do(event.Continue{})
		if e, n := find[event.Error](s); n != 1 || e.Text != "nothing was interrupted" {
			t.Errorf("%d errors, %+v", n, e)
		}
		s.stop()

		again := start(t, func(o *Options) { three(o); o.Replay = stopped }, says("done"))
		again.do()
		if i, n := find[event.Interrupted](again); n != 1 || !i.CanContinue || len(again.model.requests) != 0 {
			t.Errorf("resumed: %d times interrupted, %+v, after %d requests", n, i, len(again.model.requests))
		}
		again.do(event.Continue{})
		ended(again, event.Completed, 1)
		again.stop()
	})
	synctest.Test(t, func(t *testing.T) {
		s := start(t, three, loop(3)...)
		s.do(event.Submit{Text: "go", Background: true})
		ended(s, event.MaxTurns, 3)
		s.do(event.Continue{})
		if e, n := find[event.Error](s); n != 1 || e.Text != "nothing was interrupted" {
			t.Errorf("of a background task: %d errors, %+v", n, e)
		}
		s.stop()
		again := start(t, func(o *Options) { three(o); o.Replay = s.mem.events })
		again.do()
		if _, n := find[event.TaskStarted](again); n != 0 {
			t.Errorf("resumed: %d tasks started of a background task that had ended", n)
		}
		again.stop()
	})
}

// A tool's results are limited to its budget of tokens; after that it is refused with the reason until the next
// prompt. Other tools and typed commands are not.
func TestBudgetOfATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := func(id string) string { return id + ` do {"kind":"file_read","do":"echo","seconds":` + id[1:] + `}` }
		s := start(t, func(o *Options) { o.Calls.Budgets = []string{"do=2"} },
			says("", call("c1")), says("", call("c2")), says("", call("c3")), says("ok"), says("", call("c4")), says("ok"))
		s.do(event.Submit{Text: "go"})
		got := s.results()
		if len(got) != 3 || got[0] != "done c1" || got[1] != "done c2" ||
			got[2] != "Tool error: not run: the results of do have used about 2 tokens since the last prompt, and the user's limit is 2 ([tools] budgets); continue with what you have, or say what is missing" {
			t.Errorf("results %q", got)
		}
		s.do(event.Submit{Text: "again"})
		if got := s.results(); got[len(got)-1] != "done c4" {
			t.Errorf("after the next prompt: %q", got)
		}
		const all = "\nResults of tools\n  do: "
		if text := textOf(ContextUse(s.Runtime)); !strings.Contains(text, all) || !strings.Contains(text, " in 4 calls\n") {
			t.Errorf("%q is not in %s", all, text)
		}
		s.stop()
		again := start(t, func(o *Options) { o.Replay = s.mem.events })
		if text := textOf(ContextUse(again.Runtime)); !strings.Contains(text, " in 4 calls\n") {
			t.Errorf("after a resume %s", text)
		}
		again.stop()
	})
}

// A call that was refused does not use up its tool's budget.
func TestRefusedCallsAreFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Calls.Budgets = []string{"do=2"} },
			says("", `c1 do {"do":"echo"}`), says("", `c2 do {"kind":"file_read","do":"echo"}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		if a, n := find[event.ApprovalAsked](s); n != 1 {
			t.Fatalf("%d approvals", n)
		} else {
			s.do(event.AnswerApproval{ID: a.ID, Decision: event.Deny, Reason: "not now, and with many more words than the budget has"})
		}
		if got := s.results(); len(got) != 2 || got[1] != "done c2" {
			t.Errorf("results %q", got)
		}
		s.stop()
	})
}

// The budget for each tool applies to tools without their own.
func TestBudgetOfEachTool(t *testing.T) {
	var used usage.Task
	l := usage.New(nil, usage.Budget{ToolTokens: map[string]int{usage.AnyTool: 10, "grep": 100}})
	for i, tt := range []struct {
		tool    string
		refused bool
	}{{"grep", false}, {"glob", false}, {"grep", false}, {"glob", true}, {"read_file", false}} {
		if got := l.Refused(&used, tt.tool); (got != "") != tt.refused {
			t.Errorf("call %d: %s: %q", i, tt.tool, got)
		}
		l.Result(&used, tt.tool, strings.Repeat("x", 44), true)
	}
	if got := usage.New(nil, usage.Budget{}).Refused(&used, "glob"); got != "" {
		t.Errorf("without a budget: %q", got)
	}
	for i := range 1000 { // names that a model made up
		l.Result(&used, fmt.Sprint(i), "x", true)
	}
	if top, more := l.Tools(); len(top) != 8 || top[0].Text() != "glob 22 tokens in 2 calls" || more != 93 {
		t.Errorf("%v, and %d more", top, more)
	}
}
