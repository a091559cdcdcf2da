package trace

import (
	"slices"

	"buddy/agent/event"
	"buddy/agent/record"
)

// maxDecisions limits the explained calls, the latest.
const maxDecisions = 50

// Decision tells why a call was made and what decided about it; it has what was said, and no more.
type Decision struct {
	Seq  uint64 `json:"seq"`  // of the explanation
	Name string `json:"name"` // of the tool
	What string `json:"what"` // as in Call
	event.DecisionExplained
}

// explained takes up the explanation of a call, nil if that is not known.
func (t *Trace) explained(env event.Envelope, p event.DecisionExplained, of *record.Call) {
	d := Decision{Seq: env.Seq, DecisionExplained: bounded(p)}
	if of != nil && of.Request != nil {
		d.Name, d.What = begin(of.Request.Counted()), what(of.Request)
	}
	t.Decisions = appendNewest(t.Decisions, maxDecisions, d)
}

// bounded cuts an explanation. It is small, unless somebody else wrote the session file.
func bounded(p event.DecisionExplained) event.DecisionExplained {
	const most = 6 // of each list
	if len(p.Reasoning) > 2*textMax {
		p.Reasoning = begin(p.Reasoning)
	}
	p.CallID, p.From, p.Confidence = begin(p.CallID), event.ReasonSource(begin(string(p.From))), begin(p.Confidence)
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
