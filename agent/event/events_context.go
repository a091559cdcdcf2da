package event

import (
	"buddy/agent/action"
	"buddy/agent/model"
)

// Health grades how full a context is.
type Health string

// The grades of a context.
const (
	Healthy  Health = ""
	Hint     Health = "hint"     // it fills up: compact soon
	Warned   Health = "warning"  // compact
	Critical Health = "critical" // compact or pin now
)

// Advice says in a few words what a person can do, "" if there is no need.
func (h Health) Advice() string {
	switch h {
	case Hint:
		return "/compact soon"
	case Warned:
		return "/compact"
	case Critical:
		return "/compact now"
	}
	return ""
}

// ContextUsage estimates how full the model's context window is.
type ContextUsage struct {
	Estimated int    `json:"estimated"`
	Limit     int    `json:"limit"`   // 0 = unknown
	Percent   int    `json:"percent"` // 0 when Limit is
	Health    Health `json:"health,omitempty"`
	NextStep  string `json:"next_step,omitempty"` // what a person can do, if it is not healthy
}

// ContextCompacting marks that old messages are about to be replaced, after the hooks had nothing against it. It is
// followed by a ContextCompacted of the same way, unless that fails.
type ContextCompacting struct {
	By    string `json:"by"`              // summary, digest or window
	Focus string `json:"focus,omitempty"` // what a person wants of the summary
}

// ContextCompacted marks that a summary replaced old messages in what the model is sent; the
// session keeps them. Positions count the messages after the leading system messages, the last
// summary and what was restored with it: those from Boundary on stay, and the Kept ones before
// it.
type ContextCompacted struct {
	By       string `json:"by"`                 // summary, digest, window or server
	Summary  string `json:"summary,omitempty"`  // what the model reads instead
	Restored string `json:"restored,omitempty"` // files that the model reads besides
	Before   int    `json:"before"`             // tokens, by estimate
	After    int    `json:"after"`
	Removed  int    `json:"removed"` // messages
	Turns    int    `json:"turns"`   // their exchanges
	Boundary int    `json:"boundary"`
	Kept     []int  `json:"kept,omitempty"`
}

// MicroCompacted lists the calls whose results the model no longer reads.
type MicroCompacted struct {
	CallIDs []string `json:"call_ids"`
}

// ContextWithheld lists the calls whose results models no longer read, because a provider's content policy refused them.
type ContextWithheld struct {
	CallIDs []string `json:"call_ids"`
	Text    string   `json:"text"` // for people
}

// ContextPinned marks that an exchange is excluded from compaction, or no longer. It is
// counted back from the newest at that moment, which is 1.
type ContextPinned struct {
	Back     int  `json:"back"`
	Off      bool `json:"off,omitempty"`
	Messages int  `json:"messages"` // its messages
}

// ContextHealed marks that a server took a request only after it was changed, or said how much it takes:
// what requests to this model need from now on.
type ContextHealed model.Needs

// ReminderAttached holds a reminder: what the model is told beside prompts and tool results.
type ReminderAttached struct {
	Kinds  []string      `json:"kinds"` // see package reminder
	Text   string        `json:"text"`
	Images []model.Image `json:"images,omitempty"`
	Digest string        `json:"digest,omitempty"` // of a list of extensions: of all that the model knows then
	Names  []string      `json:"names,omitempty"`  // of skills whose texts are in it again, after a compaction
	// States say, by kind, what the model knows then, so that it is not told again.
	States map[string]string `json:"states,omitempty"`
	// Seen are files that are in it, or that changed.
	Seen []action.SeenFile `json:"seen,omitempty"`
	// Before means that the model reads it before the person's words that came last, not behind them.
	Before bool `json:"before,omitempty"`
}
