package state

import (
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

// TestRetriesAreOneBlock: the attempts of a request are one block that shows their progress and then their outcome, or
// an error in their place. A stored session shows the same.
func TestRetriesAreOneBlock(t *testing.T) {
	attempt := func(n int) event.Event {
		return event.ModelRetry{Attempt: n, Of: 6, WaitMS: 500, Why: "api.x: 529 overloaded: Busy", Short: "529 overloaded", Raw: `{"error":"Busy"}`}
	}
	answer := event.ModelMessage{Message: model.Message{Content: "whole"}}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   string
		waits  bool
	}{
		{"waits", []event.Event{attempt(1), attempt(2)}, "529 overloaded. Retrying (3 of 6)", true},
		{"is sent again", []event.Event{attempt(1), event.ModelAlive{}}, "529 overloaded. Retrying (2 of 6)", false},
		{"answered", []event.Event{attempt(1), event.ModelAlive{}, attempt(2), event.TextDelta{Text: "wh"}, answer}, "529 overloaded. Answered on attempt 3 | whole", false},
		{"fails in the middle again", []event.Event{attempt(1), event.TextDelta{Text: "half"}, attempt(2), answer}, "529 overloaded. Answered on attempt 3 | whole", false},
		{"another request", []event.Event{attempt(1), answer, attempt(1), answer}, "529 overloaded. Answered on attempt 2 | whole | 529 overloaded. Answered on attempt 2 | whole", false},
		{"stopped", []event.Event{attempt(1), event.TaskFinished{ID: 1, Outcome: event.Cancelled}}, "529 overloaded. Stopped after 1 attempt", false},
		{"another process goes on", []event.Event{attempt(1), attempt(2), event.SessionResumed{}}, "529 overloaded. Stopped after 2 attempts", false},
		{
			"fails",
			[]event.Event{attempt(1), event.Error{Text: "api.x: 529 overloaded (tried 6 times)", NextStep: "wait", Code: "task_failed", Raw: "{}"}, event.TaskFinished{ID: 1, Outcome: event.Failed}},
			"api.x: 529 overloaded (tried 6 times)\nwait", false,
		},
		{
			"another model answers",
			[]event.Event{attempt(1), event.ModelFallback{To: "spare", Model: "m-2", Why: "Model overloaded", Detail: "api.x: 529 overloaded (tried 6 times)"}, answer},
			"api.x: 529 overloaded (tried 6 times) · using m-2 (spare) for some minutes | whole", false,
		},
		{"an error of another kind", []event.Event{attempt(1), event.Error{Text: "no such pane"}}, "529 overloaded. Retrying (2 of 6) | no such pane", true},
		{"without all that is known today", []event.Event{event.ModelRetry{Attempt: 1, Why: `status 529: {"type":"error"}`}}, "The request failed. Retrying (2)", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{}
			s.add(1, event.TaskStarted{ID: 1, Kind: event.MainTask})
			s.add(1, tt.events...)
			live, read := replay(s.envs), replay(durable(s.envs))
			var texts []string
			for _, b := range live.Blocks {
				texts = append(texts, string(b.Text))
				if b.Kind == RetryBlock && b.Raw == "" || (b.Retry != nil) != tt.waits && b.Kind == RetryBlock {
					t.Errorf("%+v", b)
				}
			}
			if got := strings.Join(texts, " | "); got != tt.want || (live.Retries.Retry != nil) != tt.waits {
				t.Errorf("blocks %q, want %q; waits: %+v", got, tt.want, live.Retries.Retry)
			}
			wantSame(t, "read back", read, live)
		})
	}
}
