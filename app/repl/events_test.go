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
	text, whole := approvalText(a, false), approvalText(a, true)
	if strings.Count(text, "\n  | ") != 21 || !strings.HasSuffix(text, "\n  | rm -rf x") {
		t.Errorf("not all that runs shows:\n%s", text)
	}
	if !strings.Contains(whole, "| rm -rf x") || !strings.Contains(whole, "rule: shell") {
		t.Errorf("explained:\n%s", whole)
	}
	a.Context.Loses = []string{"git clean deletes 1 untracked file: x"}
	if text := approvalText(a, false); !strings.Contains(text, "\n  lost: git clean deletes 1 untracked file: x\n") {
		t.Errorf("what is lost:\n%s", text)
	}
}

// A choice is taken by its letter or by its number, and only those that there are count.
func TestApprovalChoices(t *testing.T) {
	var a event.ApprovalAsked
	if got := approvalPrompt(a); got != "y, n, d, ? or 1-4: " {
		t.Errorf("asks %q", got)
	}
	a.Context.Similar = `allow "go test …"`
	if got := approvalChoices(a); !strings.Contains(got, "  2  s  allow \"go test …\"\n  3  n  deny\n") {
		t.Errorf("offers\n%s", got)
	}
	for text, want := range map[string]string{"1": "y", "3": "n", "5": "?", "6": "6", "0": "0", "n": "n"} {
		if got := chosen(a, text); got != want {
			t.Errorf("%q means %q, want %q", text, got, want)
		}
	}
}
