package history

import "buddy/agent/model"

// meanings maps the ids of calls to the calls that buddy ran for them. A model may use other names for tools: the
// messages keep them, and compaction looks at what ran.
type meanings map[string]model.ToolCall

// of returns the call that buddy ran for c, which is c itself unless Meant stored another.
func (m meanings) of(c model.ToolCall) model.ToolCall {
	if meant, ok := m[c.ID]; ok {
		c.Name, c.Arguments = meant.Name, meant.Arguments
	}
	return c
}

// Meant stores which tool buddy runs for a call, and with which arguments. It must be called before the call gets its
// result, and may be called before Assistant adds the call.
func (h *History) Meant(id, name, arguments string) {
	h.meant[id] = model.ToolCall{Name: name, Arguments: arguments}
}
