package event

import (
	"fmt"

	"buddy/agent/model"
	"buddy/texts"
)

// Purpose says what a request to a model was for.
type Purpose string

// The purposes. That of the conversation itself is the zero value.
const (
	OfAnswer   Purpose = ""
	OfSubagent Purpose = "subagent"
	OfSummary  Purpose = "compaction"
	OfTitle    Purpose = "title"
)

// MetricsUsage counts tokens of one request and of the session with it: each request has one, so that
// the requests add up to the session. An unknown cost is 0; SessionUnpriced counts the requests that
// SessionCost leaves out for that reason.
type MetricsUsage struct {
	For               Purpose     `json:"for,omitempty"`
	Model             string      `json:"model,omitempty"` // who answered
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
}

// ToolUse estimates the tokens that a tool's results had in a task.
type ToolUse struct {
	Name   string `json:"name"` // as the model called it, or of the tool that use_tool called
	Tokens int    `json:"tokens"`
	Calls  int    `json:"calls,omitempty"` // 0 in older sessions, which did not count them
}

// Text returns the use for people: "grep 800 tokens in 3 calls".
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

// topTools returns the tools with the largest results for people: " · largest results: grep 800 tokens, …", "" for none.
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

// BudgetWarning marks that a task has used a large part of its budget, usually four fifths.
type BudgetWarning struct {
	Kind     BudgetKind `json:"kind"`
	Used     int64      `json:"used"`
	Limit    int64      `json:"limit"`
	TopTools []ToolUse  `json:"top_tools,omitempty"` // at most 3, the largest first
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

// MaxTurnsReached marks that an exchange used all its turns. In the main task, the command
// Continue grants as many again.
type MaxTurnsReached struct {
	Task     int       `json:"task"`
	Turns    int       `json:"turns"`
	TopTools []ToolUse `json:"top_tools,omitempty"` // at most 3, the largest first
}

// Text returns the event as one line for the screen: "stopped after 20 turns (max_iterations)", with what had
// the largest results.
func (m MaxTurnsReached) Text() string {
	return fmt.Sprintf("stopped after %d turns (max_iterations)", m.Turns) + topTools(m.TopTools)
}
