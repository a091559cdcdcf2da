package agent

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
)

// explained returns the explanations of the session so far.
func explained(s *session) (all []event.DecisionExplained) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.seen {
		if e, ok := env.Payload.(event.DecisionExplained); ok {
			all = append(all, e)
		}
	}
	return all
}

// Each judged call is explained before it starts: by the model's text, and by the rules that decided.
func TestCallsAreExplained(t *testing.T) {
	const read, run = `c1 do {"kind":"file_read","do":"echo"}`, `c1 do {"kind":"shell","do":"echo"}`
	for name, tt := range map[string]struct {
		said, call string
		mode       action.Mode
		answer     event.AnswerApproval
		want       event.DecisionExplained
	}{
		"a rule allows it": {
			"The log names it.\nConfidence: 0.9", read, action.ModeAsk,
			event.AnswerApproval{},
			event.DecisionExplained{Reasoning: "The log names it.", From: event.FromText, Confidence: "0.9", Rules: []event.DecisionRule{
				{Rule: "workspace", Text: "allow: reads a file in the workspace"},
			}},
		},
		"the model says nothing": {
			"", read, action.ModeAsk,
			event.AnswerApproval{},
			event.DecisionExplained{
				Reasoning: "reads a file in the workspace", From: event.FromPolicy, Confidence: "high",
				Rules: []event.DecisionRule{{Rule: "workspace", Text: "allow: reads a file in the workspace"}}, Computed: []string{"reasoning", "confidence"},
			},
		},
		"a person approves it": {
			"Now.", run, action.ModeAsk,
			event.AnswerApproval{Decision: event.Once},
			event.DecisionExplained{Reasoning: "Now.", From: event.FromText, Confidence: "medium", Computed: []string{"confidence"}, Rules: []event.DecisionRule{
				{Rule: "shell", Text: "ask: runs the program ./echo"}, {Rule: "person", Text: "approved"},
			}},
		},
		"a person denies it": {
			"Now.", run, action.ModeAsk,
			event.AnswerApproval{Decision: event.Deny, Reason: "use make"},
			event.DecisionExplained{Reasoning: "Now.", From: event.FromText, Confidence: "medium", Computed: []string{"confidence"}, Rules: []event.DecisionRule{
				{Rule: "shell", Text: "ask: runs the program ./echo"}, {Rule: "person", Text: "denied: use make"},
			}},
		},
		"the mode denies it": {
			"Now.", run, action.ModeNone,
			event.AnswerApproval{},
			event.DecisionExplained{Reasoning: "Now.", From: event.FromText, Confidence: "medium", Computed: []string{"confidence"}, Rules: []event.DecisionRule{
				{Rule: "none mode", Text: "deny: none mode denies everything that needs approval: runs the program ./echo"},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil, says(tt.said, tt.call), says("ok"))
				s.do(event.SetMode{Mode: tt.mode})
				s.do(event.Submit{Text: "go"})
				if asked, n := find[event.ApprovalAsked](s); n > 0 {
					tt.answer.ID = asked.ID
					s.do(tt.answer)
				}
				tt.want.CallID = "c1"
				got := explained(s)
				if len(got) != 1 || !same(got[0], tt.want) {
					t.Errorf("%+v, want %+v", got, tt.want)
				}
				if types := s.types("tool.requested"); slices.Contains(types, "tool.started") && slices.Index(types, "tool.started") < slices.Index(types, "decision.explained") {
					t.Errorf("explained after its start: %q", types)
				}
				s.stop()
			})
		})
	}
}

func same(a, b event.DecisionExplained) bool {
	return a.CallID == b.CallID && a.Reasoning == b.Reasoning && a.From == b.From && a.Confidence == b.Confidence &&
		slices.Equal(a.Computed, b.Computed) && slices.Equal(a.Alternatives, b.Alternatives) && slices.Equal(a.Rules, b.Rules)
}

// A call that starts while the answer streams is explained by the text before it. A call with invalid arguments is
// not judged, so it is not explained.
func TestWhatExplainsACallThatStartsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const early, wrong = `c1 do {"kind":"file_read","do":"echo","par":true}`, `c2 do {oops`
		streams := func(text, after string, calls ...string) step {
			return func(_ context.Context, yield func(model.Delta, error) bool) {
				m := model.Message{Role: model.Assistant, Content: text + after}
				_ = yield(model.Delta{Kind: model.Text, Text: text}, nil)
				for _, c := range calls {
					one := toolCall(c)
					m.ToolCalls = append(m.ToolCalls, one)
					_ = yield(model.Delta{Kind: model.CallReady, Call: &one}, nil)
				}
				_ = yield(model.Delta{Kind: model.Text, Text: after}, nil)
				yield(model.Delta{Kind: model.Done, Message: &m, Finish: "tool_calls"}, nil)
			}
		}
		s := start(t, nil, streams("First this.", "\n\nAnd more.", early, wrong), says("ok"))
		s.do(event.Submit{Text: "go"})
		if got := explained(s); len(got) != 1 || got[0].CallID != "c1" || got[0].Reasoning != "First this." {
			t.Errorf("%+v", got)
		}
		s.stop()
	})
}
