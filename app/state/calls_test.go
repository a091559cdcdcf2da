package state

import (
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/history"
)

// A call that did not run differs from one that failed, and has the user's reason for denying it.
func TestCallsThatDidNotRun(t *testing.T) {
	denied := event.ApprovalAnswered{ID: "a", CallID: "c", Decision: event.Deny, By: "user", Reason: "use make"}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   CallState
		why    string
	}{
		{"denied", []event.Event{event.ApprovalAsked{ID: "a", CallID: "c"}, denied, event.ToolResult{CallID: "c", IsError: true, Result: "Denied"}}, CallDenied, "use make"},
		{"its task was stopped", []event.Event{event.ToolResult{CallID: "c", IsError: true, Result: history.Unanswered}}, CallCancelled, ""},
		{"stopped while it ran", []event.Event{event.ToolStarted{CallID: "c"}, event.ToolResult{CallID: "c", IsError: true, Result: history.Unanswered}}, CallFailed, ""},
		{"refused", []event.Event{event.ToolResult{CallID: "c", IsError: true, Result: "Tool error: no such file"}}, CallFailed, ""},
		{"a question, cancelled", []event.Event{
			event.ToolStarted{CallID: "c"},
			event.QuestionAsked{ID: "q", CallID: "c", Text: "which?"},
			event.QuestionAnswered{ID: "q", By: "cancel"},
			event.ToolResult{CallID: "c", IsError: true, Result: "Tool error: cancelled"},
		}, CallCancelled, ""},
		{"a question, answered", []event.Event{
			event.ToolStarted{CallID: "c"},
			event.QuestionAsked{ID: "q", CallID: "c", Text: "which?"},
			event.QuestionAnswered{ID: "q", Text: "this", By: "user"},
			event.ToolResult{CallID: "c", Result: "{}"},
		}, CallDone, ""},
	} {
		var s State
		s.Apply(event.Envelope{Seq: 1, Time: 1, Payload: event.ToolRequested{CallID: "c", Name: "run_shell"}})
		for i, e := range tt.events {
			s.Apply(event.Envelope{Seq: uint64(i) + 2, Time: 2, Payload: e})
		}
		if c := s.Blocks[0].Call; c.State != tt.want || c.Denied != tt.why {
			t.Errorf("%s: state %d, denied because %q; want %d, %q", tt.name, c.State, c.Denied, tt.want, tt.why)
		}
	}
}

// A question shows in its call, or in a block of its own if the call is not shown.
func TestQuestionsShowOnce(t *testing.T) {
	for name, want := range map[string]Kind{"c": ToolBlock, "of a fork": AssistantBlock} {
		var s State
		s.Apply(event.Envelope{Seq: 1, Payload: event.ToolRequested{CallID: "c", Name: "ask_user", Action: action.Action{Tool: "ask_user", Preview: "which?"}}})
		s.Apply(event.Envelope{Seq: 2, Payload: event.QuestionAsked{ID: "q", CallID: name, Text: "which?"}})
		if got := s.Blocks[len(s.Blocks)-1].Kind; got != want {
			t.Errorf("the call %q: the last block is of kind %d, want %d", name, got, want)
		}
	}
}

// A call keeps its explanation, even if the end of the session was read first. The explanation of an unknown call
// changes nothing.
func TestCallsKeepTheirExplanation(t *testing.T) {
	envs := []event.Envelope{
		{Seq: 1, Payload: event.SessionCreated{}},
		{Seq: 2, Payload: event.ToolRequested{CallID: "c", Name: "grep"}},
		{Seq: 3, Payload: event.DecisionExplained{CallID: "c", Confidence: "high"}},
		{Seq: 4, Payload: event.DecisionExplained{CallID: "none", Confidence: "low"}},
		{Seq: 5, Payload: event.ToolStarted{CallID: "c"}},
		{Seq: 6, Payload: event.ToolResult{CallID: "c", Name: "grep"}},
	}
	for split := range len(envs) {
		var s, before State
		s.ApplyTail(envs[split:])
		for _, env := range envs[:split] {
			before.Apply(env)
		}
		s.PrependState(&before)
		if len(s.Blocks) != 1 || s.Blocks[0].Call.Decision.Confidence != "high" {
			t.Errorf("read from event %d on: %+v", split, s.Blocks)
		}
	}
}
