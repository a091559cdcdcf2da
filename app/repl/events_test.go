package repl

import (
	"testing"
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
