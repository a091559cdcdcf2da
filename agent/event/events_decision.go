package event

import "slices"

// DecisionExplained explains a call and the decision about it, with the model's own words and the rules that decided.
// Fields that the model did not state are derived from the policy's verdict; Computed lists them. The event has at most
// 1 KiB.
type DecisionExplained struct {
	CallID       string         `json:"call_id"`
	Reasoning    string         `json:"reasoning,omitempty"`    // the model's reason, untrusted text
	From         ReasonSource   `json:"from,omitempty"`         // where the model gave the reason
	Confidence   string         `json:"confidence,omitempty"`   // the model's own word, from a line with this label
	Alternatives []string       `json:"alternatives,omitempty"` // from lines with this label
	Rules        []DecisionRule `json:"rules,omitempty"`
	Computed     []string       `json:"computed,omitempty"` // fields that the policy filled, by their names in JSON
}

// DecisionRule is a rule that decided about a call.
type DecisionRule struct {
	Rule string `json:"rule"` // name as in a Verdict; person for an approval
	Text string `json:"text"` // the decision and its reason
}

// Said returns the rule as one line: "allow: reads a file of the workspace (workspace)".
func (r DecisionRule) Said() string {
	if r.Rule == "" {
		return r.Text
	}
	return r.Text + " (" + r.Rule + ")"
}

// The fields that [DecisionExplained.Computed] may name.
const (
	ComputedReasoning    = "reasoning"
	ComputedConfidence   = "confidence"
	ComputedAlternatives = "alternatives"
)

// Own returns a mark to show after a field that was derived from the policy, "" if the model stated the field.
func (d *DecisionExplained) Own(field string) string {
	if slices.Contains(d.Computed, field) {
		return " (computed from the policy)"
	}
	return ""
}

// ReasonSource tells where the reason for a call comes from.
type ReasonSource string

// The sources, in order of precedence.
const (
	FromWhy       ReasonSource = "why"       // an argument of the call
	FromText      ReasonSource = "text"      // the answer before the call
	FromReasoning ReasonSource = "reasoning" // the reasoning before the call
	FromPolicy    ReasonSource = "policy"    // not from the model: the policy's reason
)
