package repl

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
)

// TestRecordFind: /find line by line names the exchange, shows some context, and is bounded.
func TestRecordFind(t *testing.T) {
	var journal []event.Envelope
	add := func(e event.Event, branch int) {
		journal = append(journal, event.Envelope{Seq: uint64(len(journal) + 1), Task: 1, Branch: branch, Payload: e})
	}
	said := func(text string) event.Event {
		return event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: text}}
	}
	add(event.Notice{Text: "a note before"}, 0)
	for i := range 12 {
		add(event.PromptSubmitted{ID: i + 1, Text: fmt.Sprintf("prompt %d", i+1)}, 0)
		add(event.TaskStarted{ID: 1, Kind: event.MainTask}, 0)
		add(event.PromptSubmitted{ID: 100 + i, Text: "and this", Queued: true}, 0)
		add(event.PromptSubmitted{ID: 100 + i, Text: "and this"}, 0)
		add(said("first\nthe needle\nthird\nneedle again\n"), 0)
		add(event.TaskFinished{ID: 1, Outcome: event.Completed}, 0)
	}
	add(said("a needle beside"), 7)
	add(event.ToolRequested{CallID: "c", Name: "run_shell", Action: action.Action{Command: "grep Nadel ."}}, 0)
	add(event.ToolResult{CallID: "c", Result: `{"json":"never"}`, Tail: strings.Repeat("x", 500) + " pin " + strings.Repeat("y", 500)}, 0)
	all, err := readPast(func(_ uint64, f func(event.Envelope) bool) error {
		for _, env := range journal {
			if !f(env) {
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"note":     "notice\n    a note before",
		"prompt 7": "#7 prompt\n    prompt 7",
		"Needle":   `"Needle" not found in this session (/session search searches all sessions of this folder)`,
		"json":     `"json" not found in this session (/session search searches all sessions of this folder)`,
		"nadel":    "#12 grep Nadel .",
		"pin":      "#12 grep Nadel .\n    …" + strings.Repeat("x", 79) + " pin " + strings.Repeat("y", 74) + "…",
	} {
		if got := all.find(text); got != want {
			t.Errorf("find %q:\n%s\nwant\n%s", text, got, want)
		}
	}
	got := all.find("needle")
	if !strings.HasPrefix(got, "\"needle\" is in 2 more places before these; search for a longer text to find fewer\n#3 answer, line 2 of 4, and in 1 line more\n    first\n    the needle\n    third\n#4 ") ||
		strings.Contains(got, "beside") {
		t.Errorf("find: %s", got)
	}
}

// TestBoundDiff: a diff of any length takes a bounded number of lines.
func TestBoundDiff(t *testing.T) {
	diff := strings.Repeat("━ a.go  +1 -1 lines\n-one\n+two\n", 100)
	if got := boundDiff(diff); strings.Count(got, "\n") > maxShown+maxListed+2 || !strings.HasSuffix(got, "… and more files") || !strings.Contains(got, "… 100 more lines") {
		t.Errorf("%d lines: %s", strings.Count(got, "\n"), got[len(got)-200:])
	}
	if got := boundDiff("━ a.go\n-one\n"); got != "━ a.go\n-one" {
		t.Errorf("%q", got)
	}
}
