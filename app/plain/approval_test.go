package plain

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
)

// TestApprovalTextIsWhole: what is asked about is never less than what runs.
func TestApprovalTextIsWhole(t *testing.T) {
	a := event.ApprovalAsked{
		Action:  action.Action{Tool: "run_shell", Target: "local", Cwd: "/src", Command: strings.Repeat("true\n", 20) + "rm -rf x", Why: "to\ntidy", Risk: action.High, Mutation: true},
		Verdict: action.Verdict{Reason: "rm removes files", Rule: "shell"},
		Context: action.ApprovalContext{Loses: []string{"git clean deletes 1 untracked file: x"}, Consequences: []string{"x is gone"}},
	}
	text := ApprovalText(a, false)
	if strings.Count(text, "\n  | ") != 21 {
		t.Errorf("not all that runs shows:\n%s", text)
	}
	want := "run a command on local needs approval · risk high · changes\n"
	if !strings.HasPrefix(text, want) {
		t.Errorf("begins otherwise than %q:\n%s", want, text)
	}
	want = "\n  | rm -rf x\n  lost: git clean deletes 1 untracked file: x\n  why: to tidy\n  dir: /src\n  rule: rm removes files (shell)"
	if !strings.HasSuffix(text, want) {
		t.Errorf("ends otherwise than %q:\n%s", want, text)
	}
	if whole := ApprovalText(a, true); whole != text+"\n  does: x is gone\n  undo: not possible" {
		t.Errorf("explained:\n%s", whole)
	}
}

// TestApprovalTextOfAFile has the path and every line of the diff.
func TestApprovalTextOfAFile(t *testing.T) {
	diff := "new file, +60 -0 lines\n--- /dev/null\n+++ a.go\n@@ -0,0 +1,60 @@\n" + strings.Repeat("+line\n", 60)
	text := ApprovalText(event.ApprovalAsked{Action: action.Action{Tool: "write_file", Target: "local", Path: "/src/a.go", Preview: diff}}, false)
	if !strings.Contains(text, "\n  | /src/a.go\n  | new file") || strings.Count(text, "\n  | +line") != 60 {
		t.Errorf("not the whole change:\n%s", text)
	}
	if text := ApprovalText(event.ApprovalAsked{Action: action.Action{Tool: "x", Target: "local"}}, false); !strings.Contains(text, "| nothing is known") {
		t.Errorf("of an unknown action:\n%s", text)
	}
}

// TestReadingOfALine: only y approves; other words are the reason of a denial.
func TestReadingOfALine(t *testing.T) {
	for line, want := range map[string]event.AnswerApproval{
		"y\n": {Decision: event.Once}, "YES\r\n": {Decision: event.Once},
		"": {Decision: event.Deny}, "\n": {Decision: event.Deny}, "n\n": {Decision: event.Deny}, "No\n": {Decision: event.Deny},
		"yy\n": {Decision: event.Deny, Reason: "yy"}, "use make\n": {Decision: event.Deny, Reason: "use make"},
	} {
		if got := reading(line); got != want {
			t.Errorf("%q means %+v, want %+v", line, got, want)
		}
	}
}
