package lsp

import (
	"context"

	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/tools"
)

// checker is implemented by [Clients].
type checker interface {
	Changed(ctx context.Context, target string, files []tools.Before) string
	Late() string
}

// part adds the problems of a changed file to the call's result, and later ones to the conversation.
type part struct {
	turn.Nothing
	checker
}

// Part returns the language servers as a part of turns.
func Part(c checker) turn.Part { return part{checker: c} }

func (part) Name() string { return "lsp" }

func (p part) Around(_ context.Context, _ turn.Access, call *tools.Call) func(context.Context, *turn.Ran) {
	return func(ctx context.Context, r *turn.Ran) {
		if len(r.Changed) == 0 {
			return
		}
		if text := p.Changed(ctx, call.Planned.Target, r.Changed); text != "" {
			r.Result.Tell(text)
			r.Result.Tail += "\n" + text
		}
	}
}

func (p part) Brief(_ context.Context, b turn.Briefing) {
	if text := p.Late(); text != "" {
		b.Tell(reminder.Diagnostics, b.Foreign("language servers' reports", text))
	}
}
