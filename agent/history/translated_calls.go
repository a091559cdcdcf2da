package history

import "buddy/agent/model"

// meanings maps ids to calls translated to our tools. Models call tools as they were trained
// to; the messages keep what they wrote, and compaction uses the translation.
type meanings map[string]model.ToolCall

// of returns the translation of a call.
func (m meanings) of(c model.ToolCall) model.ToolCall {
	if meant, ok := m[c.ID]; ok {
		c.Name, c.Arguments = meant.Name, meant.Arguments
	}
	return c
}

// Meant stores the tool and the arguments that a call means, before its result comes. It may
// precede the answer that makes the call.
func (h *History) Meant(id, name, arguments string) {
	h.meant[id] = model.ToolCall{Name: name, Arguments: arguments}
}
