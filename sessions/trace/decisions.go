package trace

import (
	"slices"

	"buddy/agent/event"
	"buddy/agent/record"
)

// maxDecisions limits the explanations to the latest calls.
const maxDecisions = 50

// Decision holds the reason for a call and the rules that decided about it, as recorded in the session.
type Decision struct {
	Seq  uint64 `json:"seq"`  // of the explanation
	Name string `json:"name"` // of the tool
	What string `json:"what"` // as in Call
	event.DecisionExplained
}

// explained records the explanation of a call; of is nil if the call is unknown.
func (t *Trace) explained(env event.Envelope, p event.DecisionExplained, of *record.Call) {
	d := Decision{Seq: env.Seq, DecisionExplained: bounded(p)}
	if of != nil && of.Request != nil {
		d.Name, d.What = begin(of.Request.Counted()), what(of.Request)
	}
	t.Decisions = appendNewest(t.Decisions, maxDecisions, d)
}

// bounded cuts an explanation, which may be large in a session file from elsewhere.
func bounded(p event.DecisionExplained) event.DecisionExplained {
	const most = 6 // of each list
	if len(p.Reasoning) > 2*textMax {
		p.Reasoning = begin(p.Reasoning)
	}
	p.CallID, p.From, p.Confidence = begin(p.CallID), event.ReasonSource(begin(string(p.From))), begin(p.Confidence)
	p.Computed = slices.Clone(p.Computed[:min(len(p.Computed), most)])
	for i, c := range p.Computed {
		p.Computed[i] = begin(c)
	}
	p.Alternatives = slices.Clone(p.Alternatives[:min(len(p.Alternatives), most)])
	for i, a := range p.Alternatives {
		p.Alternatives[i] = begin(a)
	}
	p.Rules = slices.Clone(p.Rules[:min(len(p.Rules), most)])
	for i, r := range p.Rules {
		p.Rules[i] = event.DecisionRule{Rule: begin(r.Rule), Text: begin(r.Text)}
	}
	return p
}
