package history

import (
	"slices"

	"buddy/agent/model"
)

// Withheld replaces a result that a provider's content policy refused, and the result's pictures.
const Withheld = "[Withheld: the provider's content policy refused it]"

// Unread returns the ids of the calls whose results no answer has followed yet, except cleared results.
func Unread(h *History) []string {
	var ids []string
	for _, r := range h.results[min(h.seen, len(h.results)):] {
		if !r.cleared {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// Withhold replaces the results of these calls, and the pictures that came with or after them. Slices that Messages
// returned earlier do not change.
func Withhold(h *History, ids []string) {
	replaceResults(h, ids, Withheld)
	first := slices.IndexFunc(h.msgs, func(m model.Message) bool { return m.Role == model.Tool && slices.Contains(ids, m.ToolCallID) })
	if first < 0 {
		return
	}
	for i := first; i < len(h.msgs); i++ {
		if m := &h.msgs[i]; m.Kind == model.Reminder && len(m.Images) > 0 { // replaceResults has copied the messages
			before := size(*m)
			m.Content, m.Images = Withheld, nil
			h.gauge.chars += size(*m) - before
		}
	}
}
