package event

import (
	"fmt"

	"buddy/agent/model"
	"buddy/texts"
)

// Purpose names the use of a request to a model.
type Purpose string

// The purposes. The zero value is the conversation itself.
const (
	OfAnswer   Purpose = ""
	OfSubagent Purpose = "subagent"
	OfSummary  Purpose = "compaction"
	OfTitle    Purpose = "title"
)

// MetricsUsage counts the tokens of one request, and the totals of the session up to it. There is one event per
// request, so the counts of all events can be added. An unknown cost is 0; SessionCost leaves out requests of unknown
// cost, and SessionUnpriced counts them.
type MetricsUsage struct {
	For               Purpose     `json:"for,omitempty"`
	Model             string      `json:"model,omitempty"` // the model that answered
	Prompt            int         `json:"prompt"`
	Completion        int         `json:"completion"`
	Cached            int         `json:"cached,omitempty"`
	CacheWrite        int         `json:"cache_write,omitempty"`
	Cost              model.Money `json:"cost,omitempty"`
	SessionPrompt     int         `json:"session_prompt"`
	SessionCompletion int         `json:"session_completion"`
	SessionCached     int         `json:"session_cached,omitempty"`
	SessionCost       model.Money `json:"session_cost,omitempty"`
	SessionUnpriced   int         `json:"session_unpriced,omitempty"`
	PerTool           []ToolUse   `json:"per_tool,omitempty"`
	// Limits holds the account's rate limits after the last request for an answer; empty if the provider reports none.
	Limits []model.RateLimit `json:"limits,omitempty"`
}

// ToolUse estimates the tokens that a tool's results used in a task.
type ToolUse struct {
	Name   string `json:"name"` // the tool's name; with use_tool the tool that it called
	Tokens int    `json:"tokens"`
	Calls  int    `json:"calls,omitempty"` // 0 in old sessions
}

// Text formats the use: "grep 800 tokens in 3 calls".
func (u ToolUse) Text() string {
	text := fmt.Sprintf("%s %s tokens", u.Name, texts.Count(u.Tokens))
	switch u.Calls {
	case 0:
	case 1:
		text += " in 1 call"
	default:
		text += fmt.Sprintf(" in %d calls", u.Calls)
	}
	return text
}

// topTools lists the tools with the largest results: " · largest results: grep 800 tokens, …", or "".
func topTools(all []ToolUse) string {
	text := ""
	for i, t := range all {
		sep := ", "
		if i == 0 {
			sep = " · largest results: "
		}
		text += sep + t.Text()
	}
	return text
}

// BudgetKind names the quantity that a budget limits.
type BudgetKind string

// The kinds. Costs are in micro-dollars.
const (
	TurnBudget BudgetKind = "turns"
	CostBudget BudgetKind = "cost"
)

// BudgetWarning marks that a task has used most of its budget, usually four fifths.
type BudgetWarning struct {
	Kind     BudgetKind `json:"kind"`
	Used     int64      `json:"used"`
	Limit    int64      `json:"limit"`
	TopTools []ToolUse  `json:"top_tools,omitempty"` // at most 3, largest first
}

// Text returns the warning as one line for the screen: "$0.41 of $0.50 · largest results: grep
// 800 tokens".
func (w BudgetWarning) Text() string {
	text := fmt.Sprintf("%d of %d turns", w.Used, w.Limit)
	if w.Kind == CostBudget {
		text = model.Money(w.Used).String() + " of " + model.Money(w.Limit).String()
	}
	return text + topTools(w.TopTools)
}

// BudgetExceeded marks that a task ends because its budget is used up.
type BudgetExceeded struct {
	Kind     BudgetKind `json:"kind"`
	Used     int64      `json:"used"`
	Limit    int64      `json:"limit"`
	TopTools []ToolUse  `json:"top_tools,omitempty"`
}

// MaxTurnsReached marks that an exchange used up its turns. In the main task, the command Continue grants as many turns
// again.
type MaxTurnsReached struct {
	Task     int       `json:"task"`
	Turns    int       `json:"turns"`
	TopTools []ToolUse `json:"top_tools,omitempty"` // at most 3, largest first
}

// Text returns the event as one line for the screen: "stopped after 20 turns (max_iterations)", followed by the tools
// whose results were largest.
func (m MaxTurnsReached) Text() string {
	return fmt.Sprintf("stopped after %d turns (max_iterations)", m.Turns) + topTools(m.TopTools)
}
