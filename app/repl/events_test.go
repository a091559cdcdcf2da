package repl

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
)

func TestStreamed(t *testing.T) {
	var s streamed
	if got := s.add("a\nb") + s.add("c\n\nd"); got != "a\nbc\n\n" {
		t.Errorf("printed %q, want whole lines", got)
	}
	if got := s.rest("a\nbc\n\nde"); got != "de" {
		t.Errorf("the rest is %q", got)
	}
	s.add("x\n")
	if got := s.rest("another"); got != "another" {
		t.Errorf("of another answer %q is left", got)
	}
}

// What is asked about is never less than what runs.
func TestApprovalText(t *testing.T) {
	a := event.ApprovalAsked{
		Action:  action.Action{Tool: "run_shell", Target: "local", Command: strings.Repeat("true\n", 20) + "rm -rf x", Why: "to\ntidy"},
		Verdict: action.Verdict{Reason: "rm removes files", Rule: "shell"},
	}
	short, whole := approvalText(a, false), approvalText(a, true)
	if !strings.Contains(short, "9 more lines, which run as well: ? shows them") || strings.Contains(short, "rm -rf") {
		t.Errorf("short:\n%s", short)
	}
	if !strings.Contains(whole, "| rm -rf x") || !strings.Contains(whole, "rule: shell") {
		t.Errorf("whole:\n%s", whole)
	}
	a.Context.Loses = []string{"git clean deletes 1 untracked file: x"}
	if text := approvalText(a, false); !strings.Contains(text, "\n  lost: git clean deletes 1 untracked file: x\n") {
		t.Errorf("what is lost:\n%s", text)
	}
	if strings.Contains(approvalPrompt(a), "s = ") {
		t.Error("offers a rule that there is not")
	}
}
