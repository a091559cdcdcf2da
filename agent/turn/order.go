package turn

import (
	"cmp"
	"slices"
)

// Features take part in sessions in three orders:
//   - before a request they tell the model something in the order of briefOrder;
//   - calls pass them in the order of [Features.Parts], inside the checks of execute.go: repeats, budgets, hooks, approval;
//   - stored events reach them in the order of [Features.Parts], after the instruction files and before compactions
//     (agent/recovery.go).

// briefOrder names the parts that tell the model something before a request, in the order of the texts. Providers cache the
// beginning of a conversation, so what changes seldom comes first: before the parts the instruction files. Parts that are not
// named follow in the order of [Features.Parts], and reminders come last.
var briefOrder = []string{"skills", "files", "agents", "plan", "mcp", "mentions", "lsp", "resources"}

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
