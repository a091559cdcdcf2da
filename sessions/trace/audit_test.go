package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Each call has its request, the decision about it, who decided, and the outcome.
func TestAuditOfCalls(t *testing.T) {
	rule := func(text string) event.DecisionExplained {
		return event.DecisionExplained{CallID: "c", Rules: []event.DecisionRule{{Rule: "shell", Text: text}}}
	}
	asked := event.ApprovalAsked{ID: "a", CallID: "c"}
	answered := func(d event.Decision, by string) event.ApprovalAnswered {
		return event.ApprovalAnswered{ID: "a", CallID: "c", Decision: d, By: by, Screen: "pts/3"}
	}
	started, zero, one := event.ToolStarted{CallID: "c"}, 0, 1
	for _, tt := range []struct {
		want   string
		events []event.Event
	}{
		{"ran", []event.Event{rule("allow: only reads"), started, event.ToolResult{CallID: "c", ExitCode: &zero}}},
		{"failed", []event.Event{asked, answered(event.Once, "user"), rule("ask: runs make"), started, event.ToolResult{CallID: "c", ExitCode: &one}}},
		{"failed", []event.Event{rule("allow: only reads"), started, event.ToolResult{CallID: "c", IsError: true}}},
		{"denied", []event.Event{asked, answered(event.Deny, "user"), rule("ask: runs make"), event.ToolResult{CallID: "c", IsError: true}}},
		{"denied", []event.Event{rule("deny: mode none"), event.ToolResult{CallID: "c", IsError: true}}},
		{"denied", []event.Event{rule("ask: runs make"), event.ToolResult{CallID: "c", IsError: true}}}, // nobody was there
		{"cancelled", []event.Event{asked, answered(event.Deny, "cancel"), event.ToolResult{CallID: "c", IsError: true}}},
		{"not run", []event.Event{event.ToolResult{CallID: "c", IsError: true}}},
		{"open", []event.Event{asked}},
		{"no result", []event.Event{started, event.SessionResumed{}, event.ToolResult{CallID: "c"}}},
	} {
		var a Audit
		all := append([]event.Event{event.ToolRequested{CallID: "c", Name: "run_shell", Action: action.Action{Command: "make"}, Target: "web"}}, tt.events...)
		for i, e := range all {
			if !Audits(event.Type(e)) {
				t.Fatalf("%s is not asked for", event.Type(e))
			}
			a.Add(event.Envelope{Seq: uint64(i + 1), Time: int64(i + 1), Task: 3, Payload: e})
		}
		c := a.Calls[0]
		if len(a.Calls) != 1 || c.Outcome() != tt.want || c.What != "make" || c.Target != "web" || c.Task != 3 {
			t.Errorf("%T: %s, want %s: %+v", tt.events[0], c.Outcome(), tt.want, c)
		}
		if who := slices.ContainsFunc(tt.events, func(e event.Event) bool { return event.Type(e) == "approval.answered" }); who != (c.By != "" && c.Screen == "pts/3") {
			t.Errorf("%s: by %q on %q", tt.want, c.By, c.Screen)
		}
	}
}

// The audit has the command as a person edited it before the approval.
func TestAuditOfAnEditedCall(t *testing.T) {
	var a Audit
	for _, command := range []string{"make", "make test"} {
		a.Add(event.Envelope{Seq: 1, Time: 1, Payload: event.ToolRequested{CallID: "c", Name: "run_shell", Action: action.Action{Command: command}}})
	}
	if len(a.Calls) != 1 || a.Calls[0].What != "make test" {
		t.Errorf("%+v", a.Calls)
	}
}

// An audit keeps the latest 10,000 calls with bounded contents.
func TestAuditIsBounded(t *testing.T) {
	var a Audit
	long := strings.Repeat("é", 1000)
	for i := range maxAudit + 500 {
		id := fmt.Sprint(i)
		a.Add(event.Envelope{Seq: uint64(i), Time: 1, Payload: event.ToolRequested{CallID: id, Name: long, Arguments: long, Target: long}})
		if i%2 == 0 {
			a.Add(event.Envelope{Seq: uint64(i), Time: 1, Payload: event.ToolResult{CallID: id}})
		}
	}
	data, err := json.Marshal(a)
	if err != nil || len(a.Calls) != maxAudit || a.Count != maxAudit+500 || a.Calls[0].Seq != 500 || len(a.open) > 10_000 || len(data) > 10<<20 {
		t.Errorf("%d of %d calls from %d on, %d open, %d bytes, %v", len(a.Calls), a.Count, a.Calls[0].Seq, len(a.open), len(data), err)
	}
}
