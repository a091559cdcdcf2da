package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/sessions"
)

// Findings of a review that the screen does not know come from the session's file; each opens its own file, and none that
// is elsewhere.
func TestFindings(t *testing.T) {
	s, _ := withSessions(t, "7f3a-1111-1111-1111", "review it")
	if _, err := Run(t.Context(), s, "findings"); err == nil || !strings.Contains(err.Error(), "no review of this session") {
		t.Errorf("a session that is not stored: %v", err)
	}
	cwd, _ := os.Getwd()
	if err := os.WriteFile("a.go", []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := s.Setup.Store.Create(sessions.Header{ID: s.Setup.ID, Cwd: cwd, Target: slash.ThisMachine, Model: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	first := event.ReviewFinished{Of: "it", Task: 3, Findings: []event.Finding{{File: "a.go", Text: "one"}, {File: "../b.go", Text: "two", Fix: "--- a/b.go\n+++ b/b.go\n@@ -1 +1 @@\n-x\n+y\n"}}}
	last := event.ReviewFinished{Of: "that", Task: 5, Target: "web-02", Findings: []event.Finding{{File: "a.go", Line: 7, Text: "three"}}}
	for n, e := range []event.Event{event.PromptSubmitted{ID: 1, Text: "review it"}, first, last, event.ReviewFinished{Task: 7}} {
		if err := j.Append(event.Envelope{Seq: uint64(n + 1), Time: 1, Session: s.Setup.ID, Task: 1, Payload: e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	s.Now = &slash.Now{Info: event.SessionCreated{Cwd: cwd}}
	for line, want := range map[string]string{
		"findings":            "Findings in that on web-02:\n  1  three    a.go:7\n       three\n/findings N opens",
		"findings of 3":       "Findings in it:\n  1  one    a.go\n",
		"findings 1":          "a.go:7 is on web-02, where your editor is not",
		"findings of 3 1":     "opens a.go",
		"findings of 3 2":     "../b.go is outside this folder",
		"findings of 3 2 fix": "diff --- a/b.go",
		"findings of 3 3":     `"3" is not the number of a finding (have: 1 to 2)`,
		"findings 1 2":        `"1 2" is not the number of a finding (have: 1 to 1)`,
		"findings of x":       `"x" is not the number of a task`,
		"findings of 9 1":     "no review of this session",
	} {
		a, err := Run(t.Context(), s, slash.Words(line)...)
		got := a.String()
		switch {
		case err != nil:
			got = err.Error()
		case a.Open != "":
			got = "opens " + filepath.Base(a.Open)
		case a.Text != nil && a.Text.Form == show.Diff:
			got = "diff " + got
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
