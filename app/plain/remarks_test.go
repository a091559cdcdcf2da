package plain

import (
	"strings"
	"testing"

	"buddy/agent/event"
)

// TestRemarksAreShort: the line of a call has 80 characters of what it is about, and that of
// its result 120.
func TestRemarksAreShort(t *testing.T) {
	var out strings.Builder
	l := &Remarks{Err: &out}
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
		if l.Remark(tt.e); out.String() != tt.want+"\n" {
			t.Errorf("%+v: %q, want %q", tt.e, out.String(), tt.want)
		}
	}
}
