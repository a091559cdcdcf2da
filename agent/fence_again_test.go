package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/hooks"
	"buddy/tools"
)

// writesByReading is a command that writes although the policy classifies it as reading.
const writesByReading = "sed -n 'w x' f"

// A call that the read-only sandbox stopped runs again in the normal sandbox, once, and the model reads only the
// second result. The journal has both runs.
func TestStoppedCommandRunsAgainInTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shell := &insideTool{dir: t.TempDir()}
		s := insideWith(t, shell, says("ok"), says("", runs("c1", writesByReading)), says("ok"), says("ok"))
		defer s.stop()
		s.do(event.Submit{Text: "hello"})
		s.do(event.Submit{Text: "go"})
		if got := s.reads(); got != "inside "+writesByReading {
			t.Errorf("the model reads %q", got)
		}
		var held []bool
		var dirs, rules []string
		for _, env := range s.mem.events {
			switch p := env.Payload.(type) {
			case event.ToolStarted:
				held, dirs = append(held, p.Fenced), append(dirs, p.Dir)
			case event.DecisionExplained:
				for _, r := range p.Rules {
					rules = append(rules, r.Rule)
				}
			}
		}
		if !slices.Equal(held, []bool{false, true}) || dirs[0] == dirs[1] {
			t.Errorf("the journal has starts, fenced: %v, in %q", held, dirs)
		}
		if got := strings.Join(rules, ", "); got != "read-only commands, read-only commands, sandbox" {
			t.Errorf("the journal has the rules %s", got)
		}
		if len(shell.ran) != 2 || shell.ran[1].Spent != time.Second || shell.ran[1].Free || shell.ran[1].Confined {
			t.Errorf("ran %+v", shell.ran)
		}
		if text := textOf(Status(s.Runtime)); !strings.Contains(text, "ran inside the sandbox: 1, approvals asked: 0, denied: 0") {
			t.Errorf("the status is %q", text)
		}
		if _, n := find[event.ApprovalAsked](s); n != 0 {
			t.Errorf("%d approvals", n)
		}
		s.do(event.Rewind{ToSeq: s.opening()[1], Conversation: true})
		s.do(event.Submit{Text: "again"})
		if sent := fmt.Sprint(s.model.requests[len(s.model.requests)-1]); !strings.Contains(sent, "similar calls (1) have run since") {
			t.Errorf("after it was taken back, the model is sent %s", sent)
		}
	})
}

// After a change to another mode or a cancellation, even during the run, the call does not run again.
func TestStoppedCommandStaysStopped(t *testing.T) {
	for name, during := range map[string]func(*session){
		"in mode ask":                nil,
		"after a change to mode ask": func(s *session) { s.Send(event.SetMode{Mode: action.ModeAsk}) },
		"cancelled":                  func(s *session) { s.Send(event.Cancel{}) },
		"denied meanwhile":           func(s *session) { s.SetRules([]action.Rule{{Decision: action.Deny, Prefix: []string{"sed"}}}) },
	} {
		synctest.Test(t, func(t *testing.T) {
			shell := &insideTool{dir: t.TempDir()}
			s := insideWith(t, shell, says("", runs("c1", writesByReading)), says("ok"))
			defer s.stop()
			if shell.runs = func() { during(s); time.Sleep(time.Second) }; during == nil {
				shell.runs = nil
				s.do(event.SetMode{Mode: action.ModeAsk})
			}
			s.do(event.Submit{Text: "go"})
			time.Sleep(2 * time.Second) // the run, which may wait for the command above
			synctest.Wait()
			if _, n := find[event.ToolStarted](s); n != 1 || len(shell.ran) != 1 {
				t.Errorf("%s: %d starts, ran %d times", name, n, len(shell.ran))
			}
		})
	}
}

// Hooks see the second run like the first, with its own verdict, and can refuse it.
func TestHooksSeeTheRunInTheFence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ hook, reads string }{
		{"cat >>seen", "inside " + writesByReading},
		{`tee -a seen | grep -q '"rule":"sandbox"' && { echo "nothing writes" >&2; exit 2; }; exit 0`, "stopped"},
		{`cat >>seen; grep -q '"rule":"sandbox"' seen && echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}'; exit 0`, "stopped"},
		{`cat >>seen; grep -q '"rule":"sandbox"' seen && echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"rm f"}}}'; exit 0`, "stopped"},
	} {
		shell := &insideTool{dir: t.TempDir()}
		o := Options{Mode: action.ModeAuto, Tools: tools.NewRegistry(shell)}
		o.Policy.Workspace, o.Policy.Fence, o.Policy.Confined = shell.dir, func() error { return nil }, true
		s := newHookSession(t, o, []hookSpec{{hooks.PreToolUse, "", tt.hook, ""}}, says("", runs("c1", writesByReading)), says("fine"))
		if _, err := runText(t, s, "go"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.results(), ", "); got != tt.reads {
			t.Errorf("%s: the model reads %q, want %q", tt.hook, got, tt.reads)
		}
		seen := strings.Split(strings.TrimSpace(s.file("seen")), "\n")
		if len(seen) != 2 || !strings.Contains(seen[0], `"rule":"read-only commands"`) || !strings.Contains(seen[1], `"rule":"sandbox"`) {
			t.Errorf("%s: hooks saw %q", tt.hook, seen)
		}
	}
}
