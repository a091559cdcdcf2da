package event

// DecisionExplained explains a call and the decision about it: the model's own words and the rules that decided. It
// contains no guesses: what the model did not state is empty. It has at most 1 KiB.
type DecisionExplained struct {
	CallID       string         `json:"call_id"`
	Reasoning    string         `json:"reasoning,omitempty"`    // the model's reason, untrusted text
	From         ReasonSource   `json:"from,omitempty"`         // where the model gave the reason
	Confidence   string         `json:"confidence,omitempty"`   // the model's own word, from a line with this label
	Alternatives []string       `json:"alternatives,omitempty"` // from lines with this label
	Rules        []DecisionRule `json:"rules,omitempty"`        // the rules that decided
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

// ReasonSource tells where the model gave its reason for a call.
type ReasonSource string

// The sources, in order of precedence.
const (
	FromWhy       ReasonSource = "why"       // an argument of the call
	FromText      ReasonSource = "text"      // the answer before the call
	FromReasoning ReasonSource = "reasoning" // the reasoning before the call
)
