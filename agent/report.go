package agent

import (
	"context"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/skills"
	"buddy/agent/subagents"
)

// ModeOf returns how approvals are decided now.
func ModeOf(r *Runtime) action.Mode {
	mode, _ := r.approvals.Mode()
	return mode
}

// NamesOfAgents returns the types of the subagents that a prompt may name, those of plugins as PLUGIN:NAME. It
// reads their definitions first where those may have changed.
func NamesOfAgents(ctx context.Context, r *Runtime) []string { return r.tasks.agents.book.Names(ctx) }

// Skills returns the skills and custom commands, once they are read. Any goroutine may call it.
func Skills(ctx context.Context, r *Runtime) skills.Listing {
	return r.skills.List(ctx, r.selection.KnownWindow())
}

// Subagents returns the types of subagents, once they are read. Any goroutine may call it.
func Subagents(ctx context.Context, r *Runtime) subagents.Set { return r.tasks.agents.book.Set(ctx) }

// report answers a question about the session. It works while a task runs.
func (r *Runtime) report(what event.ReportKind) {
	var text string
	switch what {
	case event.ReportGoal:
		text = r.tasks.goals.report()
	default:
		kinds := []event.ReportKind{event.ReportGoal}
		r.reject("unknown report %q (have: %s)", what, strings.Trim(fmt.Sprint(kinds), "[]"))
		return
	}
	r.Publish(event.Notice{Text: text, Code: string(what)})
}
