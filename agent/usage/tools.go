package usage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"buddy/agent/event"
	"buddy/agent/record"
)

// AnyTool is the name of the budget for tools without their own.
const AnyTool = "*"

const (
	maxTopTools = 3   // in a report
	maxTools    = 100 // names counted separately; models can make up any number
	otherTools  = "others"
)

// toolUses holds the size of results by tool. The ledger's lock guards it; nil is empty.
type toolUses map[string]event.ToolUse

// add counts a result.
func (u *toolUses) add(tool string, tokens int) {
	if *u == nil {
		*u = make(toolUses)
	}
	if _, known := (*u)[tool]; !known && len(*u) >= maxTools {
		tool = otherTools
	}
	one := (*u)[tool]
	one.Name = tool
	one.Calls++
	add(&one.Tokens, tokens)
	(*u)[tool] = one
}

// top returns the tools with the largest results, largest first.
func (u toolUses) top(most int) []event.ToolUse {
	all := slices.SortedFunc(maps.Values(u), func(a, b event.ToolUse) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), most)]
}

// tokensOf estimates the tokens of a result, at four bytes each.
func tokensOf(result string) int { return len(result) / 4 }

// Result counts a tool's result. Only results of calls that ran use up the tool's budget for one prompt.
func (l *Ledger) Result(t *Task, tool, text string, ran bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.tools.add(tool, tokensOf(text))
	if !ran {
		t.refused.add(tool, tokensOf(text))
	}
	l.tools.add(tool, tokensOf(text))
}

// replayTool counts the result of a stored call. If a later process settled the call, only the result has the tool's
// name.
func (l *Ledger) replayTool(c *record.Call) {
	name := c.Result.Name
	if c.Request != nil && !c.Lost {
		name = c.Request.Counted()
	}
	l.tools.add(name, tokensOf(c.Result.Result))
}

// Refused returns, for the model, why a tool may not be called any more in a task: its results have used up its
// tokens for one prompt. It returns "" if the tool may be called.
func (l *Ledger) Refused(t *Task, tool string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	most, own := l.budget.ToolTokens[tool]
	if !own {
		most = l.budget.ToolTokens[AnyTool]
	}
	used := t.tools[tool].Tokens - t.refused[tool].Tokens
	if most <= 0 || used < most {
		return ""
	}
	return fmt.Sprintf("not run: the results of %s have used about %d tokens since the last prompt, and the user's limit is %d ([tools] budgets); continue with what you have, or say what is missing", tool, used, most)
}

// Tools returns the tools with the largest results in the session, and the number of the other tools.
func (l *Ledger) Tools() (top []event.ToolUse, more int) {
	const most = 8
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools.top(most), max(0, len(l.tools)-most)
}
