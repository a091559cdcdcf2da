package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
)

// countIn returns the number of messages in a request that contain a text.
func countIn(req model.Request, text string) int {
	n := 0
	for _, m := range req.Messages {
		n += strings.Count(m.Content, text)
	}
	return n
}

// TestBackgroundAgent: the call returns at once, and the agent's end is reported once, with the next request.
func TestBackgroundAgent(t *testing.T) {
	for _, killed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			scripts := map[string][]step{
				"main": {says("", callsAgent("a1", "worker", "one", `,"background":true`)), says("it works on"), says("I see"), says("and more")},
				"one":  {says("", `c1 do {"kind":"shell","do":"echo"}`), says("found the leak")},
			}
			s, m := withAgents(t, scripts, []string{worker}, nil)
			s.do(event.Submit{Text: "go"})
			if got := m.results("main"); !strings.Contains(got[0], "task #2 (worker) is working in the background") || !strings.Contains(got[0], "agent.md") || strings.Contains(got[0], "leak") {
				t.Errorf("the call gave %q", got)
			}
			s.do(event.Submit{Text: "what else?"})
			asked, _ := find[event.ApprovalAsked](s)
			s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
			if e, n := find[event.SubagentBackgrounded](s); n != 1 || e.ID != 2 || e.Agent != "worker" || !strings.HasSuffix(e.OutputFile, "agent.md") {
				t.Errorf("%d events, the last %+v", n, e)
			}
			if begun, _ := taskOf(s, "worker"); !begun.Background || countIn(m.sent("main")[2], "has completed") != 0 {
				t.Errorf("%+v; the end was told before it was there", begun)
			}
			const news = "Task 2, the agent worker (do a1) that worked in the background, has completed."
			if killed {
				stored := slices.Clone(s.mem.events)
				s.stop()
				s, m = withAgents(t, map[string][]step{"main": scripts["main"]}, []string{worker}, func(o *Options) { o.Replay = stored })
			}
			s.do(event.Submit{Text: "and now?"})
			s.do(event.Submit{Text: "and then?"})
			for _, req := range m.sent("main")[len(m.sent("main"))-2:] {
				if n := countIn(req, news); n != 1 {
					t.Errorf("after a crash %v: told %d times: %+v", killed, n, req.Messages)
				}
			}
			if r, n := find[event.ReminderAttached](s); !killed && (n == 0 || !strings.Contains(r.Text, "found the leak")) {
				t.Errorf("%d reminders, %+v", n, r)
			}
			s.stop()
		})
	}
}

// TestBackgroundAgentWakes: with the setting, the end starts a task when nothing else runs.
func TestBackgroundAgentWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := withAgents(t, map[string][]step{
			"main": {says("", callsAgent("a1", "worker", "one", `,"background":true`)), says("it works on"), says("I see")},
			"one":  {says("", `c1 do {"kind":"shell","do":"echo"}`), says("found the leak")},
		}, []string{worker}, func(o *Options) { o.Agents.Limits.Wake = true })
		s.do(event.Submit{Text: "go"})
		asked, _ := find[event.ApprovalAsked](s)
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		if all := m.sent("main"); len(all) != 3 || countIn(all[2], "found the leak") != 1 {
			t.Errorf("%d requests", len(all))
		}
		s.stop()
	})
}

// TestSteerAnAgent: a prompt to an agent's task reaches it with its next request, even during its answer; other tasks
// reject such prompts.
func TestSteerAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := withAgents(t, map[string][]step{
			"main": {says("", callsAgent("a1", "worker", "one", "")), says("done")},
			"one":  {says("", `c1 do {"kind":"shell","do":"echo"}`), says("the left one"), says("the right one")},
		}, []string{worker}, nil)
		s.do(event.Submit{Text: "go"})
		begun, _ := taskOf(s, "worker")
		s.do(event.Submit{Text: "look to the right", Task: begun.ID}, event.Submit{Text: "x", Task: 1}, event.Submit{Text: "x", Task: 99})
		s.do(event.Submit{Text: "look to the left", Task: begun.ID})
		for _, env := range s.events() {
			if p, ok := env.Payload.(event.PromptSubmitted); ok && p.Queued && env.Branch != 1 {
				t.Errorf("%q waits in branch %d", p.Text, env.Branch)
			} else if ok && p.Text == "look to the left" {
				s.do(event.Unqueue{ID: p.ID})
			}
		}
		asked, _ := find[event.ApprovalAsked](s)
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		if all := m.sent("one"); countIn(all[len(all)-1], "look to the left") != 0 {
			t.Error("the agent was sent a prompt that was withdrawn")
		}
		if all := m.sent("one"); countIn(all[len(all)-1], "look to the right") != 1 {
			t.Errorf("the agent was sent %+v", all[len(all)-1].Messages)
		}
		if _, n := find[event.Error](s); n != 2 {
			t.Errorf("%d prompts were refused, want 2", n)
		}
		s.do(event.Submit{Text: "too late", Task: begun.ID})
		if e, n := find[event.Error](s); n != 3 || !strings.Contains(e.Text, "is not running") {
			t.Errorf("%d refused, %+v", n, e)
		}
		s.stop()
	})
}

// TestCostOfAgents: the usage of agents is part of their caller's, to the cent, and the budget of the prompt is
// shared.
func TestCostOfAgents(t *testing.T) {
	dear := model.Price{Input: 1_000_000, Output: 2_000_000}
	scripts := func() map[string][]step {
		return map[string][]step{
			"main":  {says("", callsAgent("a1", "worker", "one", ""), callsAgent("a2", "worker", "two", "")), says("done")},
			"one":   {says("", callsAgent("b1", "worker", "below", "")), says("one")},
			"two":   {says("two")},
			"below": {says("below")},
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s, m := withAgents(t, scripts(), []string{worker}, func(o *Options) { o.Model.(*byAgent).info.Price = dear })
		s.do(event.Submit{Text: "go"})
		one := dear.Cost(model.Usage{Prompt: 10, Completion: 2})
		sums, n := find[event.MetricsUsage](s)
		if n != 6 || one == 0 || sums.SessionCost != 6*one || sums.SessionPrompt != 60 {
			t.Errorf("%d requests cost %v, %d tokens; one costs %v", n, sums.SessionCost, sums.SessionPrompt, one)
		}
		var turns model.Money
		for _, env := range s.events() {
			if p, ok := env.Payload.(event.TurnFinished); ok {
				turns += p.Cost
			}
		}
		if turns != 6*one {
			t.Errorf("the turns cost %v in all", turns)
		}
		status := textOf(Status(s.Runtime))
		for _, want := range []string{"This prompt: 60 tokens in", "In all: 3", "worker: do b1: 10 tokens in", "worker: do a1: 30 tokens in"} {
			if !strings.Contains(status, want) {
				t.Errorf("the status has no %q:\n%s", want, status)
			}
		}
		_ = m
		s.stop()
	})
	synctest.Test(t, func(t *testing.T) {
		s, m := withAgents(t, scripts(), []string{worker}, func(o *Options) {
			o.Model.(*byAgent).info.Price = dear
			o.MaxCost = 2 * dear.Cost(model.Usage{Prompt: 10, Completion: 2})
		})
		s.do(event.Submit{Text: "go"})
		if f, _ := find[event.TaskFinished](s); f.Outcome != event.MaxCost || len(m.sent("main")) != 1 {
			t.Errorf("it ended %+v after %d requests", f, len(m.sent("main")))
		}
		s.stop()
	})
}

// prefix returns the cacheable part of a request: its first messages.
func prefix(t *testing.T, req model.Request, messages int) string {
	t.Helper()
	text, err := json.Marshal([]any{req.Tools, req.Messages[:messages]})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPrefixWithAgents: agents do not change the main model's earlier messages, and an agent's own prefix stays the
// same over its turns.
func TestPrefixWithAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := withAgents(t, map[string][]step{
			"main": {says("hello"), says("", callsAgent("a1", "worker", "one", "")), says("done")},
			"one":  {says("", aCall), says("", strings.Replace(aCall, "c1", "c2", 1)), says("end")},
		}, []string{worker}, nil)
		s.do(event.Submit{Text: "hello"})
		s.do(event.Submit{Text: "go"})
		for _, who := range []string{"main", "one"} {
			all := m.sent(who)
			if len(all) != 3 {
				t.Fatalf("%s was asked %d times", who, len(all))
			}
			for i := range all[1:] {
				n := len(all[i].Messages)
				if a, b := prefix(t, all[i], n), prefix(t, all[i+1], n); a != b {
					t.Errorf("request %d of %s does not begin as the one before:\n%s\n%s", i+2, who, a, b)
				}
			}
		}
		if fmt.Sprint(m.sent("main")[0].Tools) == fmt.Sprint(m.sent("one")[0].Tools) {
			t.Error("the agent has the same tools, so nothing was compared")
		}
		s.stop()
	})
}
