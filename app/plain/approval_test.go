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
		Action:  action.Action{Tool: "run_shell", Kind: action.Shell, Target: "web-02", Cwd: "/src", Command: strings.Repeat("true\n", 20) + "rm -rf x", Why: "to\ntidy", Risk: action.High, Mutation: true},
		Verdict: action.Verdict{Reason: "rm deletes files", Rule: "shell"},
		Context: action.ApprovalContext{
			Effect: action.Effect{Verb: "deletes", Object: "x", Final: true}, Loses: []string{"git clean deletes 1 untracked file: x"}, Consequences: []string{"it is gone for good"},
		},
	}
	text := ApprovalText(a)
	if strings.Count(text, "\n  | ") != 21 {
		t.Errorf("not all that runs shows:\n%s", text)
	}
	if want := "Run this command?  (high risk · web-02)\n"; !strings.HasPrefix(text, want) {
		t.Errorf("begins otherwise than %q:\n%s", want, text)
	}
	if want := "\n  | rm -rf x\n  Deletes x. Can't be undone.\n  git clean deletes 1 untracked file: x.\n  \"to tidy\""; !strings.HasSuffix(text, want) {
		t.Errorf("ends otherwise than %q:\n%s", want, text)
	}
	if details, want := DetailsText(a), "  You are asked because rm deletes files (rule: shell).\n  It starts in /src."; details != want {
		t.Errorf("details:\n%s", details)
	}
}

// TestApprovalTextOfAFile has the path and every line of the diff.
func TestApprovalTextOfAFile(t *testing.T) {
	diff := "new file, +60 -0 lines\n--- /dev/null\n+++ a.go\n@@ -0,0 +1,60 @@\n" + strings.Repeat("+line\n", 60)
	text := ApprovalText(event.ApprovalAsked{Action: action.Action{Kind: action.FileWrite, Tool: "write_file", Target: "local", Path: "/src/a.go", Preview: diff}})
	if !strings.HasPrefix(text, "Create a.go? +60 −0") || !strings.Contains(text, "\n  | new file") || strings.Count(text, "\n  | +line") != 60 {
		t.Errorf("not the whole change:\n%s", text)
	}
	if text := ApprovalText(event.ApprovalAsked{Action: action.Action{Tool: "x", Target: "local"}}); !strings.Contains(text, "| buddy doesn't know what this does") {
		t.Errorf("of an unknown action:\n%s", text)
	}
}

// TestNumberedAnswers: answers are taken by number or letter, an empty line says no, and only those that are offered count.
func TestNumberedAnswers(t *testing.T) {
	a := event.ApprovalAsked{ID: "a1"}
	if got := Numbered(Answers(a, false)); got != "  1  Yes\n  2  No, and tell the agent why" {
		t.Errorf("offers\n%s", got)
	}
	a.Context.Similar = "don't ask again for `go test` this session"
	all := Answers(a, false)
	if got := Numbered(all); got != "  1  Yes\n  2  Yes, and don't ask again for `go test` this session\n  3  No, and tell the agent why" {
		t.Errorf("offers\n%s", got)
	}
	if got := Numbered(Answers(a, true)); got != "  1  Yes, with your edits\n  2  No, and tell the agent why" {
		t.Errorf("of an edited call it offers\n%s", got)
	}
	for line, want := range map[string]Choice{
		"y": Approve, "YES\r\n": Approve, "1": Approve, "s": AllowSimilar, "2": AllowSimilar, "3": DenyWithReason,
		"": Deny, "n": Deny, "No\n": Deny, "d": DenyWithReason, "?": Explain, "e": Amend,
		"4": "", "0": "", "yy": "", "use make": "",
	} {
		if got := Chosen(all, Letter, line); got != want {
			t.Errorf("%q means %q, want %q", line, got, want)
		}
	}
	if got := Chosen(Answers(a, true), Letter, "s"); got != "" {
		t.Errorf("s means %q though it is not offered", got)
	}
}
