package event

// DecisionExplained tells why a call was made and why it may run, or not: what the model said of it, and the
// rules that decided. Nothing in it is guessed: what the model did not say is left out. It is at most 1 KiB.
type DecisionExplained struct {
	CallID       string         `json:"call_id"`
	Reasoning    string         `json:"reasoning,omitempty"`    // the model's reason, untrusted text
	From         ReasonSource   `json:"from,omitempty"`         // where it gave the reason
	Confidence   string         `json:"confidence,omitempty"`   // in the model's words, of a line with this label
	Alternatives []string       `json:"alternatives,omitempty"` // of lines with this label
	Rules        []DecisionRule `json:"rules,omitempty"`        // that decided about it
}

// DecisionRule is a rule that decided about a call.
type DecisionRule struct {
	Rule string `json:"rule"` // its name, as in a Verdict; person for an approval
	Text string `json:"text"` // what it decided, and why
}

// Said returns the rule as one line for people: "allow: reads a file of the workspace (workspace)".
func (r DecisionRule) Said() string {
	if r.Rule == "" {
		return r.Text
	}
	return r.Text + " (" + r.Rule + ")"
}

// ReasonSource says where a model gave its reason for a call.
type ReasonSource string

// The sources, the first that has a reason counts.
const (
	FromWhy       ReasonSource = "why"       // an argument of the call
	FromText      ReasonSource = "text"      // the answer before the call
	FromReasoning ReasonSource = "reasoning" // the reasoning before it
)
