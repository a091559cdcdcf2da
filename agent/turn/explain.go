package turn

import (
	"strings"

	"buddy/agent/approval"
	"buddy/agent/decision"
	"buddy/agent/event"
)

// explain publishes why a call was made and which rules decided about it. Calls without such rules, such as commands
// that a person typed, are not explained.
func explain(b *batch, j *job) {
	if len(j.rules) == 0 {
		return
	}
	_, reason, _ := strings.Cut(j.rules[0].Text, ": ") // "allow: reads a file in the workspace"
	computed := decision.Computed{Reasoning: reason}
	computed.Confidence, computed.Alternatives = approval.Certainty(b.loop.p.Approvals, j.call.Planned, b.loop.agent.Most)
	if e, ok := decision.Explain(j.call.ID, j.call.Planned.Why, j.said, j.rules, b.loop.o.Redact.Text, computed); ok {
		b.publish(e)
	}
}

// answered returns the rules for an answered approval: the person's decision, or that of a policy that answered
// instead. An approval that nobody answered has none.
func answered(a event.ApprovalAnswered) []event.DecisionRule {
	var text string
	switch {
	case a.By == "policy":
		return []event.DecisionRule{{Rule: "policy", Text: string(a.Decision) + ": " + a.Reason}}
	case a.By != "user":
		return nil
	case a.Decision == event.Once:
		text = "approved"
	case a.Decision == event.Similar:
		text = "approved, with all similar calls"
	case a.Decision == event.Keep:
		text = "tried, and its changes kept"
	case a.Decision == event.Edit:
		text = "approved with other arguments"
	default:
		text = "denied"
		if a.Reason != "" {
			text += ": " + a.Reason
		}
	}
	return []event.DecisionRule{{Rule: "person", Text: text}}
}
