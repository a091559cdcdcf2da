package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/subagents"
	"buddy/tools"
	"buddy/tools/basic"
)

// TestHooksOfAgents: hooks see the calling agent, a guard can stop an agent from starting, SubagentStart output
// reaches only the agent, and SubagentStop can continue it; hooks of the main agent do not run for agents.
func TestHooksOfAgents(t *testing.T) {
	m := &byAgent{requests: make(map[string][]model.Request), scripts: map[string][]step{
		"main": {says("", callsAgent("a1", "worker", "one", ""), callsAgent("a2", "other", "two", "")), says("done")},
		"one":  {says("", aCall), says("half"), says("whole")},
	}}
	defs := definitions(t, worker, strings.Replace(worker, "worker", "other", 1))
	o := Options{
		Tools: tools.NewRegistry(&fakeTool{}, basic.NewAgent()),
		Agents: Agents{
			Read:   func(context.Context) (subagents.Set, error) { return subagents.Set{Agents: defs}, nil },
			System: func(text string) string { return "SUB " + text },
		},
	}
	s := newHookSession(t, o, []hookSpec{
		{event: "PreToolUse", matcher: "Agent", command: `in=$(cat); case "$in" in *'"type":"other"'*) echo "no others" >&2; exit 2;; esac`},
		{event: "PreToolUse", matcher: "^(do|Bash)$", command: "cat > do.json"},
		{event: "SubagentStart", matcher: "worker", command: "cat > start.json; " + printed(`{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"use tabs"}}`)},
		{event: "SubagentStop", matcher: "worker", command: `cat >> stop.json; grep -q half stop.json && ! grep -q whole stop.json && { echo "say all" >&2; exit 2; }; exit 0`},
		{event: "UserPromptSubmit", command: "cat >> prompts.json"},
		{event: "Stop", command: "cat >> mainstop.json"},
	})
	s.model.steps = nil
	s.selection.SetModel(m)
	if _, err := s.RunText(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if got := m.results("main"); !strings.HasPrefix(got[0], "whole\n[") || !strings.Contains(got[1], "no others") {
		t.Errorf("the main agent reads %q", got)
	}
	for _, name := range []string{"do.json", "start.json"} {
		var in map[string]any
		if err := json.Unmarshal([]byte(s.file(name)), &in); err != nil || in["agent_type"] != "worker" || in["agent_id"] != "agent-1" {
			t.Errorf("%s: %v, %v", name, in, err)
		}
	}
	one := m.sent("one")
	if n := countIn(one[len(one)-1], "use tabs"); n != 1 || countIn(m.sent("main")[1], "use tabs") != 0 {
		t.Errorf("the agent was told %d times", n)
	}
	if n := strings.Count(s.file("stop.json"), `"hook_event_name":"SubagentStop"`); n != 2 {
		t.Errorf("SubagentStop ran %d times", n)
	}
	if s.file("mainstop.json") == "" || strings.Contains(s.file("mainstop.json"), "agent_type") || strings.Count(s.file("prompts.json"), "UserPromptSubmit") != 1 {
		t.Errorf("hooks of the main agent: %s %s", s.file("mainstop.json"), s.file("prompts.json"))
	}
}

// TestQuietAgent: an agent without events for ten minutes is reported once, and again only after a new event; an
// agent whose subagent works is not quiet.
func TestQuietAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := withAgents(t, map[string][]step{
			"main":  {says("", callsAgent("a1", "worker", "one", "")), says("done")},
			"one":   {says("", callsAgent("b1", "worker", "below", "")), says("end of one")},
			"below": {says("", `c1 do {"kind":"shell","do":"echo"}`), says("end")},
		}, []string{worker}, nil)
		quietNotices := func() (n int) {
			for _, env := range s.events() {
				if p, ok := env.Payload.(event.Notice); ok && p.Code == "agent_quiet" {
					n++
				}
			}
			return n
		}
		s.do(event.Submit{Text: "go"})
		time.Sleep(9 * time.Minute)
		begun, _ := taskOf(s, "worker")
		s.do(event.Submit{Text: "hurry", Task: begun.ID})
		s.Publish(event.Notice{Text: "of nobody"})
		time.Sleep(2 * time.Minute)
		if n := quietNotices(); n != 2 { // a queued prompt is no event of the agent
			t.Errorf("%d notices, want one for each of the two agents that wait", n)
		}
		time.Sleep(time.Hour)
		if n := quietNotices(); n != 2 {
			t.Errorf("%d notices: the same silence is told again", n)
		}
		asked, _ := find[event.ApprovalAsked](s)
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		time.Sleep(time.Hour)
		if n := quietNotices(); n != 2 {
			t.Errorf("%d notices after the end", n)
		}
		s.stop()
	})
}
