package plain

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
)

// TestRemarksAreShort: the line of a call has 80 characters of what it is about, and that of
// its result 120.
// At 70 % there is a line, once until the context is smaller again; what is more urgent comes as a warning.
func TestContextBeginsToFillUp(t *testing.T) {
	var out strings.Builder
	m := Remarks{Err: &out, ShowToolCalls: true}
	for _, h := range []event.Health{event.Healthy, event.Hint, event.Hint, event.Warned, event.Hint, event.Healthy, event.Hint} {
		m.Remark(event.ContextUsage{Estimated: 700, Limit: 1000, Percent: 70, Health: h, NextStep: "/compact"})
	}
	want := "the context window is 70 % full (about 700 of 1000 tokens) · /compact\n"
	if out.String() != want+want {
		t.Errorf("printed %q", out.String())
	}
}

func TestRemarksAreShort(t *testing.T) {
	var out strings.Builder
	l := &Remarks{Err: &out, ShowToolCalls: true}
	x := strings.Repeat("x", 121)
	for _, tt := range []struct {
		e    event.Event
		want string
	}{
		{event.ToolRequested{Name: "run_shell", Action: action.Action{Command: x[:120]}}, "▶ " + x[:120]},
		{event.ToolRequested{Name: "run_shell", Action: action.Action{Command: x}}, "▶ " + x[:119] + "…"},
		{event.ToolRequested{Name: "read_file", Target: "web", Arguments: `{"path":"a.go"}`}, "▶ read a.go on web"},
		{event.ToolRequested{Name: "deploy", Arguments: "{"}, "▶ deploy (unreadable arguments)"},
		{event.ToolResult{Tail: x[:120]}, "← " + x[:120]},
		{event.ToolResult{Tail: x}, "← " + x[:119] + "…"},
		{event.ToolResult{IsError: true, Result: x[:120]}, "← " + x[:120]},
		{event.ToolResult{IsError: true, Result: x}, "← " + x[:119] + "…"},
		{event.ToolResult{IsError: true, Result: "Tool error: no such file\n[hint: list the folder]", Aside: "\n[hint: list the folder]", Shown: "no such file"}, "← no such file"},
		{event.ToolResult{Result: `{"state":"ready"}`}, "← state: ready"},
	} {
		l.Remark(event.ToolStarted{})
		out.Reset()
		if l.Remark(tt.e); out.String() != tt.want+"\n" {
			t.Errorf("%+v: %q, want %q", tt.e, out.String(), tt.want)
		}
	}
}

// Progress of a server's call is printed at most every two seconds; output of other calls is not.
func TestProgressIsPrintedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := &Remarks{Err: &out, ShowToolCalls: true}
		l.Remark(event.ToolRequested{CallID: "m", Name: "use_tool", Action: action.Action{Kind: action.MCP, Op: "docs: index"}})
		l.Remark(event.ToolRequested{CallID: "c", Name: "run_shell", Action: action.Action{Kind: action.Shell, Command: "make"}})
		out.Reset()
		l.Remark(event.ToolOutput{CallID: "m", Text: "\n"})
		for i := range 100 {
			l.Remark(event.ToolOutput{CallID: "m", Text: fmt.Sprintf("0/100\n%d/100 \x1b[2Jpages\n", i+1)})
			l.Remark(event.ToolOutput{CallID: "c", Text: "compiled\n"})
		}
		time.Sleep(progressPause)
		l.Remark(event.ToolOutput{CallID: "m", Text: strings.Repeat("x", 1000) + "\n"})
		l.Remark(event.ToolResult{CallID: "m", Result: "done"})
		l.Remark(event.ToolOutput{CallID: "m", Text: "late\n"})
		if want := "… 1/100 pages\n… " + strings.Repeat("x", maxCall-1) + "…\n← done\n"; out.String() != want {
			t.Errorf("printed %q, want %q", out.String(), want)
		}
	})
}

// TestRemarksOfWhatDidNotRun: a call that never began was not run, whatever its result says; a
// denial has its whole reason.
func TestRemarksOfWhatDidNotRun(t *testing.T) {
	why := strings.Repeat("because ", 40) + "so"
	refused := event.ToolResult{CallID: "c", IsError: true, Result: "Denied by the policy, nothing ran: mode none"}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"by the person", []event.Event{event.ApprovalAnswered{CallID: "c", Decision: event.Deny, By: "user", Reason: why}, refused}, "⊘ not run (denied: " + why + ")"},
		{"without a reason", []event.Event{event.ApprovalAnswered{CallID: "c", Decision: event.Deny, By: "user"}, refused}, "⊘ not run (denied)"},
		{"nobody there", []event.Event{event.ApprovalAnswered{CallID: "c", Decision: event.Deny, By: "nobody"}, refused}, "⊘ not run (denied: there is nobody to ask)"},
		{"interrupted", []event.Event{event.ApprovalAnswered{CallID: "c", Decision: event.Deny, By: "cancel"}, refused}, "⊘ not run (cancelled)"},
		{"unasked", []event.Event{refused}, "⊘ not run: Denied by the policy, nothing ran: mode none"},
		{"budget", []event.Event{event.ToolResult{CallID: "c", IsError: true, Result: "not run: the budget is used"}}, "⊘ not run: the budget is used"},
		{"another was denied", []event.Event{event.ApprovalAnswered{CallID: "d", Decision: event.Deny}, event.ToolStarted{CallID: "c"}, refused}, "← Denied by the policy, nothing ran: mode none"},
		{"approved and failed", []event.Event{event.ApprovalAnswered{CallID: "c", Decision: event.Once}, event.ToolStarted{CallID: "c"}, refused}, "← Denied by the policy, nothing ran: mode none"},
	} {
		var out strings.Builder
		l := &Remarks{Err: &out, ShowToolCalls: true}
		for _, e := range tt.events {
			l.Remark(e)
		}
		if out.String() != tt.want+"\n" {
			t.Errorf("%s: %q, want %q", tt.name, out.String(), tt.want)
		}
	}
}

// Without calls what fails or does not run is still said.
func TestRemarksWithoutCalls(t *testing.T) {
	zero, one := 0, 1
	var out strings.Builder
	l := &Remarks{Err: &out}
	for _, e := range []event.Event{
		event.ToolRequested{CallID: "a", Name: "run_shell"},
		event.ToolStarted{CallID: "a"},
		event.ToolResult{CallID: "a", ExitCode: &zero},
		event.ToolRequested{CallID: "b", Name: "run_shell"},
		event.ToolStarted{CallID: "b"},
		event.ToolResult{CallID: "b", ExitCode: &one},
		event.ToolRequested{CallID: "c", Name: "read_file"},
		event.ToolStarted{CallID: "c"},
		event.ToolResult{CallID: "c", Tail: "text"},
		event.ApprovalAnswered{CallID: "d", Decision: event.Deny, By: "user"},
		event.ToolResult{CallID: "d", IsError: true},
	} {
		l.Remark(e)
	}
	if got := out.String(); got != "← exit 1  0.0 s\n⊘ not run (denied)\n" {
		t.Errorf("%q", got)
	}
}

// A remark is one line. Only the words of a notice are buddy's own, so no others are reworded.
func TestRemarksOfOneLine(t *testing.T) {
	var out strings.Builder
	l := &Remarks{Err: &out, Reword: strings.ToUpper}
	for _, e := range []event.Event{event.Notice{Text: "settings reloaded"}, event.GoalSet{Goal: "run /undo"}, event.ContextHealed{Text: "without pictures"}} {
		l.Remark(e)
	}
	if got := out.String(); got != "SETTINGS RELOADED\ngoal: run /undo\nwithout pictures\n" {
		t.Errorf("%q", got)
	}
}

// What is said to allow a call where nobody can be asked does allow it.
func TestHintWhereNobodyCanBeAsked(t *testing.T) {
	for want, a := range map[string]event.ApprovalAsked{
		"--approve auto lets commands run in a sandbox, --approve all allows everything":    {},
		"files were changed; approve it in a session that can ask you":                      {Verdict: action.Verdict{Rule: policy.ChangedUnseen, Reason: "files were changed"}},
		"the hook no_rm.sh asks about it, even with --approve all":                          {Context: action.ApprovalContext{AskedBy: "no_rm.sh"}},
		"db is marked as production, even with --approve all":                               {Verdict: action.Verdict{Rule: policy.Production, Reason: "db is marked as production"}},
		"its server has changed this tool, even with --approve all":                         {Verdict: action.Verdict{Rule: policy.ChangedTool, Reason: "its server has changed this tool"}},
		"also changes 2 other names: buddy always asks about this, even with --approve all": {Verdict: action.Verdict{Rule: policy.HardLinks, Reason: "also changes 2 other names"}},
		"the file holds a key": {Verdict: action.Verdict{Rule: action.OwnKeys, Reason: "the file holds a key"}, Context: action.ApprovalContext{AskedBy: "x"}},
	} {
		if got := withoutTerminal(a); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// How far a run of a workflow is has a line each; of a step with one call the call has none.
func TestRemarksOfAWorkflow(t *testing.T) {
	var out strings.Builder
	l := &Remarks{Err: &out, ShowToolCalls: true}
	for _, e := range []event.Event{
		event.WorkflowStarted{Run: 1, Name: "rollout", Steps: []event.WorkflowStepDef{{ID: "look"}, {ID: "roll"}}},
		event.WorkflowStepped{Run: 1, Step: "look", State: event.WorkflowRunning},
		event.WorkflowStepped{Run: 1, Step: "look", Item: 1, State: event.WorkflowRunning, Attempt: 1},
		event.WorkflowStepped{Run: 1, Step: "look", Item: 1, State: event.WorkflowCompleted},
		event.WorkflowStepped{Run: 1, Step: "look", State: event.WorkflowCompleted},
		event.WorkflowStepped{Run: 1, Step: "roll", State: event.WorkflowRunning, Items: []string{"web-1"}},
		event.WorkflowStepped{Run: 1, Step: "roll", Item: 1, State: event.WorkflowRunning, Attempt: 2},
		event.WorkflowStepped{Run: 1, Step: "roll", Item: 1, State: event.WorkflowFailed, Why: "exit code 1"},
		event.WorkflowChanged{Run: 1, State: event.WorkflowFailed, Why: "step roll failed"},
	} {
		l.Remark(e)
	}
	want := "workflow rollout, 2 steps\n◐ look: running\n☑ look: completed\n◐ roll: running\n◐ roll for web-1 (try 2): running\n✗ roll for web-1: failed (exit code 1)\nworkflow failed: step roll failed\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out.String(), want)
	}
}

// What is typed at a gate passes it only when it is a yes.
func TestAnswersToAGate(t *testing.T) {
	gate := event.QuestionAsked{Choices: event.GateChoices}
	for line, want := range map[string]string{"y\n": event.GatePass, "YES\n": event.GatePass, "1\n": event.GatePass, "2\n": event.GateDeny, "\n": event.GateDeny, "n\n": event.GateDeny, "3\n": "3", "not on a Friday\n": "not on a Friday"} {
		if got := choiceOf(gate, line); got != want {
			t.Errorf("%q means %q, want %q", line, got, want)
		}
	}
}

// An exchange that failed is not said to have failed behind the error that says why; the next one is.
func TestFailureIsSaidOnce(t *testing.T) {
	var out strings.Builder
	m := Remarks{Err: &out, ShowToolCalls: true}
	m.Remark(event.Error{Text: "the key is wrong"})
	for _, tt := range []struct {
		o    event.Outcome
		want string
	}{
		{event.Failed, ""}, {event.Failed, "failed"}, {event.Cancelled, "cancelled"},
	} {
		if got := m.End(tt.o); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.o, got, tt.want)
		}
	}
	if got := out.String(); got != "the key is wrong\n" {
		t.Errorf("printed %q", got)
	}
}
