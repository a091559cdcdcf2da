package turn

import (
	"buddy/agent/decision"
	"buddy/agent/event"
)

// explain tells why a call was made and what decided about it. What nothing decided about, such as a call
// that a person typed, is not explained.
func explain(b *batch, j *job) {
	if len(j.rules) == 0 {
		return
	}
	if e, ok := decision.Explain(j.call.ID, j.call.Planned.Why, b.said, j.rules, b.loop.o.Redact.Text); ok {
		b.publish(e)
	}
}

// answered returns what a person has decided about a call as a rule; a policy that answers instead of them has
// its own, and nobody decides nothing.
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
		text = "approved, with all that are similar"
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
