package repl

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
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
	r := &repl{con: &console{keys: keymap.Default()}}
	a := event.ApprovalAsked{ID: "a1"}
	if got := asks(choices(r, a)); got != "y, n, d, ? or 1-4 (Enter denies): " {
		t.Errorf("asks %q", got)
	}
	a.Context.Similar = `allow "go test …"`
	all := choices(r, a)
	if got := listed(all, "like this"); !strings.Contains(got, "  1  y  run once\n  2  n  deny\n") || !strings.Contains(got, "\n  4  s  allow \"go test …\"\n        like this\n") {
		t.Errorf("offers\n%s", got)
	}
	for line, want := range map[string]keymap.Action{
		"y": keymap.Approve, "Yes ": keymap.Approve, "1": keymap.Approve, "s": keymap.AllowSimilar, "4": keymap.AllowSimilar,
		"": keymap.Deny, "n": keymap.Deny, "no": keymap.Deny, "2": keymap.Deny, "d": keymap.DenyWithReason, "5": keymap.Explain, "?": keymap.Explain,
		"6": "", "0": "", "e": "", "yy": "", "also do this": "",
	} {
		if got := chosen(all, line); got != want {
			t.Errorf("%q means %q, want %q", line, got, want)
		}
	}
	a.Action.Kind = action.FileWrite
	r.edited = edited{id: a.ID}
	if all := choices(r, a); all[0].label != "write what you edited" || chosen(all, "s") != "" {
		t.Errorf("of an edited file it offers\n%s", listed(all, ""))
	}
}
