package turn

import (
	"cmp"
	"context"
	"slices"
)

// Features take part in sessions in three orders:
//   - before a request they tell the model something in the order of briefOrder;
//   - calls pass them in the order of [Features.Parts], inside the checks of execute.go: repeats, budgets, hooks, approval;
//   - stored events reach them in the order of [Features.Parts], after the instruction files and before compactions
//     (agent/recovery.go).

// briefOrder names what tells the model something before a request, in the order of the texts. Providers cache the beginning
// of a conversation, so what changes seldom comes first. Parts that are not named follow in the order of
// [Features.Parts], and reminders come last.
var briefOrder = []string{"news", "instructions", "skills", "files", "agents", "plan", "mcp", "mentions", "lsp", "resources"}

// brief is one of the runtime's own parts.
type brief struct {
	Nothing
	name string
	tell func(context.Context, Briefing)
}

func (b brief) Name() string                              { return b.name }
func (b brief) Brief(ctx context.Context, about Briefing) { b.tell(ctx, about) }

// inOrder returns parts in the order in which they tell the model something.
func inOrder(parts []Part) []Part {
	place := func(p Part) int {
		if i := slices.Index(briefOrder, p.Name()); i >= 0 {
			return i
		}
		return len(briefOrder)
	}
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(place(a), place(b)) })
	return parts
}

// ownParts returns the parts that every session has.
func ownParts() []Part {
	return []Part{
		brief{name: "news", tell: func(_ context.Context, b Briefing) { b.x.talk.TellNews(b.x.task) }},
		brief{name: "instructions", tell: func(ctx context.Context, b Briefing) {
			b.l.p.Instructions.Await(ctx)
			b.l.p.Instructions.Again(ctx, b.x.talk, b.x.task, b.l.Turns(), b.l.o.Target)
		}},
		brief{name: "agents", tell: tellAgents},
		brief{name: "mentions", tell: tellMentions},
	}
}
