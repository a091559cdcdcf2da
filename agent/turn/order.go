package turn

import (
	"cmp"
	"slices"
)

// The features of a session are called in three orders:
//   - before a request they add context in the order of briefOrder;
//   - calls pass them in the order of [Features.Parts], inside the checks of execute.go: repeats, budgets, hooks,
//     approval;
//   - stored events reach them in the order of [Features.Parts], after the instruction files and before compactions
//     (agent/recovery.go).

// briefOrder orders the parts that add context before a request. Providers cache the beginning of a conversation, so
// what changes seldom comes first: the instruction files, then these parts, then the others in the order of
// [Features.Parts], and reminders last.
var briefOrder = []string{"skills", "files", "agents", "plan", "mcp", "mentions", "lsp", "resources"}

// inOrder returns parts sorted by briefOrder.
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
