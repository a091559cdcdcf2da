package cli

import (
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/sessions/trace"
)

// TestFailuresAreShort: a failure in a trace has at most 120 characters.
func TestFailuresAreShort(t *testing.T) {
	x := strings.Repeat("x", 121)
	for text, want := range map[string]string{x[:120]: x[:120], x: x[:119] + "…"} {
		var out strings.Builder
		printTrace(&out, "1", &trace.Trace{Failures: []trace.Failure{{Type: "Error", Text: text}}})
		if !strings.Contains(out.String(), " "+want+"\n") {
			t.Errorf("%d characters: %s", len(text), out.String())
		}
	}
}

// The trace shows the reasons for the latest calls and what decided about them, with a dash for a missing value.
func TestTraceShowsDecisions(t *testing.T) {
	rules := []event.DecisionRule{{Rule: "shell", Text: "ask: runs make"}, {Rule: "person", Text: "approved"}}
	said := event.DecisionExplained{CallID: "c", Reasoning: "it builds", From: event.FromText, Confidence: "high", Alternatives: []string{"go build"}, Rules: rules}
	var out strings.Builder
	printTrace(&out, "1", &trace.Trace{Decisions: []trace.Decision{
		{Seq: 7, Name: "run_shell", What: "make", DecisionExplained: said}, {Seq: 9, Name: "grep", DecisionExplained: event.DecisionExplained{Rules: rules[:1]}},
	}})
	for _, want := range []string{
		"\nDecisions\n",
		"7      run_shell make  high        1             ask: runs make (shell); approved (person)  it builds\n",
		"9      grep            –           0             ask: runs make (shell)                     –\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	out.Reset()
	printExplained(&out, turnMessages{Answer: []model.Message{{ToolCalls: []model.ToolCall{{ID: "c", Name: "run_shell"}}}}, Decisions: []event.DecisionExplained{said}})
	const want = "\ndecided\n[run_shell]\nreason, from its text: it builds\nconfidence: high\nalternative: go build\nrule: ask: runs make (shell)\nrule: approved (person)\n"
	if out.String() != want {
		t.Errorf("of a turn: %q, want %q", out.String(), want)
	}
}

// An audit has a line for each call.
func TestAuditHasALineForEachCall(t *testing.T) {
	one := 1
	a := &trace.Audit{Count: 12_000, Calls: []*trace.AuditCall{
		{
			Seq: 7, Time: 1, Name: "run_shell", What: "make", Target: "web", Decision: event.Once, By: "user", Screen: "pts/3", Started: 2, Ended: 3, Failed: true, ExitCode: &one,
			Rules: []event.DecisionRule{{Rule: "shell", Text: "ask: runs make"}, {Rule: "person", Text: "approved"}},
		},
		{Seq: 9, Time: 1, Name: "grep", What: "x", Target: "local"},
	}}
	var out strings.Builder
	printAudit(&out, a)
	for _, want := range []string{
		"the latest 2 of 12000 calls\n",
		"7      failed   1     user (pts/3)  ask: runs make (shell); approved (person)  run_shell make on web\n",
		"9      open     –     –             –                                          grep x\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	out.Reset()
	if printAudit(&out, &trace.Audit{}); out.String() != "no calls\n" {
		t.Errorf("%q", out.String())
	}
}
