package history

import "buddy/agent/model"

// meanings maps ids to calls translated to buddy's tools. Models may call tools under other names; the messages keep
// these, and compaction uses the translation.
type meanings map[string]model.ToolCall

// of returns the translation of a call, or the call itself if it has none.
func (m meanings) of(c model.ToolCall) model.ToolCall {
	if meant, ok := m[c.ID]; ok {
		c.Name, c.Arguments = meant.Name, meant.Arguments
	}
	return c
}

// Meant stores the tool and the arguments that a call means. It must be called before the call gets its result, and may
// be called before Assistant adds the call.
func (h *History) Meant(id, name, arguments string) {
	h.meant[id] = model.ToolCall{Name: name, Arguments: arguments}
}
