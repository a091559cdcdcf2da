package cli

import (
	"strings"
	"testing"

	"buddy/sessions/trace"
)

// TestFailuresAreShort: a failure in a trace has 120 characters.
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
