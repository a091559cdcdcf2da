package event

import (
	"buddy/agent/action"
	"buddy/agent/model"
)

// Health grades how full the context is.
type Health string

// The grades.
const (
	Healthy  Health = ""
	Hint     Health = "hint"     // filling up: compact soon
	Warned   Health = "warning"  // compact
	Critical Health = "critical" // compact or pin now
)

// Advice returns a short hint for the person, or "".
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

// ContextUsage estimates the use of the model's context window.
type ContextUsage struct {
	Estimated int    `json:"estimated"`
	Limit     int    `json:"limit"`   // 0 = unknown
	Percent   int    `json:"percent"` // 0 if Limit is unknown
	Health    Health `json:"health,omitempty"`
	NextStep  string `json:"next_step,omitempty"` // hint for the person, unless healthy
}

// ContextCompacting marks that a compaction starts, to which no hook has objected. A ContextCompacted with the same By
// follows unless the compaction fails.
type ContextCompacting struct {
	By    string `json:"by"`              // summary, digest, window or strategy
	Focus string `json:"focus,omitempty"` // the person's wishes for the summary
}

// ContextCompacted marks that old messages were removed from the model's context, usually replaced by a summary; the
// session file keeps them. The messages from position Boundary on stay, and of the earlier ones those at the positions
// in Kept. Positions don't count the leading system messages, the last summary and the files restored with it.
type ContextCompacted struct {
	By       string `json:"by"`                 // summary, digest, window, strategy or server
	Summary  string `json:"summary,omitempty"`  // replaces the removed messages
	Restored string `json:"restored,omitempty"` // files added to the context again
	Before   int    `json:"before"`             // estimated tokens
	After    int    `json:"after"`
	Removed  int    `json:"removed"` // messages
	Turns    int    `json:"turns"`   // number of their exchanges
	Boundary int    `json:"boundary"`
	Kept     []int  `json:"kept,omitempty"`
}

// MicroCompacted lists calls whose results are no longer sent to the model.
type MicroCompacted struct {
	CallIDs []string `json:"call_ids"`
}

// ContextWithheld lists calls whose results are no longer sent, because a provider's content policy refused them.
type ContextWithheld struct {
	CallIDs []string `json:"call_ids"`
	Text    string   `json:"text"` // for the screen
}

// Line returns the text.
func (w ContextWithheld) Line() string { return w.Text }

// ContextPinned marks that an exchange is excluded from compaction, or included again. Back counts from the newest
// exchange at that moment, which is 1.
type ContextPinned struct {
	Back     int  `json:"back"`
	Off      bool `json:"off,omitempty"`
	Messages int  `json:"messages"` // its messages
}

// ContextHealed marks that a server accepted a request only after a change, or that its error contained a limit. Later
// requests to this model need the same change.
type ContextHealed model.Needs

// Line returns the text.
func (h ContextHealed) Line() string { return h.Text }

// ReminderAttached holds a reminder: text for the model other than prompts and tool results.
type ReminderAttached struct {
	Kinds  []string      `json:"kinds"` // see package reminder
	Text   string        `json:"text"`
	Images []model.Image `json:"images,omitempty"`
	Digest string        `json:"digest,omitempty"` // for a list of extensions: hash of the complete list
	Names  []string      `json:"names,omitempty"`  // skills whose texts it repeats after a compaction
	// States records, by kind, what the model knows after this reminder, so that later reminders don't repeat it.
	States map[string]string `json:"states,omitempty"`
	// Seen lists the files that the reminder contains or whose change it reports.
	Seen []action.SeenFile `json:"seen,omitempty"`
	// Before puts the reminder before the person's last message instead of after it.
	Before bool `json:"before,omitempty"`
}
