package repl

import (
	"strings"
	"testing"

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

// A choice is taken by its letter or by its number, and only those that there are count.
func TestApprovalChoices(t *testing.T) {
	var a event.ApprovalAsked
	if got := approvalPrompt(a); got != "y, n, d, ? or 1-4 (Enter denies): " {
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
