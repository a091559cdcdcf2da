package app

import (
	"os"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/sessions/trace"
	"buddy/tools/target"
)

// Before the prompt was taken there is nothing to cancel: the first signal ends exec.
func TestInterruptBeforeTheTask(t *testing.T) {
	interrupts := make(chan os.Signal, 1)
	interrupts <- os.Interrupt
	l := &line{program: &program{}}
	if got := l.follow(make(chan event.Envelope), interrupts); got != event.Cancelled {
		t.Errorf("follow = %q, want %q", got, event.Cancelled)
	}
}

// TestRemarksAreShort: the line of a call has 80 characters of what it is about, and that of
// its result 120.
func TestRemarksAreShort(t *testing.T) {
	var out strings.Builder
	l := &line{err: &out, program: &program{dest: &destination{Target: &target.Target{}}}}
	x := strings.Repeat("x", 121)
	for _, tt := range []struct {
		e    event.Event
		want string
	}{
		{event.ToolRequested{Name: "t", Arguments: x[:80]}, "▶ t(" + x[:80] + ")"},
		{event.ToolRequested{Name: "t", Arguments: x[:81]}, "▶ t(" + x[:79] + "…)"},
		{event.ToolRequested{Name: "t", Target: "web", Arguments: x[:1]}, "▶ t(x) on web"},
		{event.ToolResult{Tail: x[:120]}, "← " + x[:120]},
		{event.ToolResult{Tail: x}, "← " + x[:119] + "…"},
		{event.ToolResult{IsError: true, Result: x[:120]}, "← " + x[:120]},
		{event.ToolResult{IsError: true, Result: x}, "← " + x[:119] + "…"},
	} {
		out.Reset()
		if l.remark(tt.e); out.String() != tt.want+"\n" {
			t.Errorf("%+v: %q, want %q", tt.e, out.String(), tt.want)
		}
	}
}

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
