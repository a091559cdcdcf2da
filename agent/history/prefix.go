package history

import (
	"maps"
	"slices"
	"strings"

	"buddy/agent/model"
)

// Prefix appends the start of an answer that is still streaming, because its first calls may already run. It reports
// whether the start had any content. A later Prefix replaces it with a longer start, and the next Assistant with the
// whole answer, or with as much of it as arrived. The results of its calls are kept.
func Prefix(h *History, m model.Message) bool {
	grows := h.Assistant(m)
	h.grows = h.grows || grows
	return grows
}

// Grows reports whether the last answer is incomplete: a start of an answer that Prefix added.
func Grows(h *History) bool { return h.grows }

// Grown returns m, a whole answer, completed with what Prefix stored of the answer and m lacks: calls, because they may
// have run, and text. If Prefix stored nothing, it returns m unchanged.
func Grown(h *History, m model.Message) model.Message {
	if !h.grows {
		return m
	}
	was := h.msgs[growing(h)]
	if len(m.Content) < len(was.Content) {
		m.Content = was.Content
	}
	var missing []model.ToolCall
	for _, c := range was.ToolCalls {
		if !slices.ContainsFunc(m.ToolCalls, func(o model.ToolCall) bool { return o.ID == c.ID }) {
			missing = append(missing, c)
		}
	}
	m.ToolCalls = append(missing, m.ToolCalls...)
	return m
}

// growing returns the index of the answer that Prefix has added.
func growing(h *History) int {
	at := len(h.msgs) - 1
	for h.msgs[at].Role == model.Tool {
		at--
	}
	return at
}

// grow replaces the answer that Prefix has added. Slices that Messages returned earlier do not change.
func grow(h *History, m model.Message) bool {
	m, at := Grown(h, m), growing(h)
	h.grows = false
	m.Role = model.Assistant
	if strings.TrimSpace(m.Content) == "" {
		m.Content = ""
	}
	ids := maps.Clone(h.ids)
	for _, c := range h.msgs[at].ToolCalls {
		delete(ids, c.ID)
	}
	m.ToolCalls = validCalls(m.ToolCalls, ids)
	replace(h, at, m)
	answered := make(map[string]bool)
	for _, r := range h.msgs[at+1:] {
		answered[r.ToolCallID] = true
	}
	h.open = nil
	for _, c := range m.ToolCalls {
		if h.ids[c.ID] = true; !answered[c.ID] {
			h.open = append(h.open, c)
		}
	}
	sortResults(h.msgs)
	return true
}
