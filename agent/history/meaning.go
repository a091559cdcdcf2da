package history

import "buddy/agent/model"

// meanings holds calls in our words, by id. Models call tools as they were trained to; what
// they wrote stays in the messages, and compaction goes by what it means.
type meanings map[string]model.ToolCall

// of returns a call in our words.
func (m meanings) of(c model.ToolCall) model.ToolCall {
	if meant, ok := m[c.ID]; ok {
		c.Name, c.Arguments = meant.Name, meant.Arguments
	}
	return c
}

// Meant notes the tool and the arguments that a call means, before its result comes. It may
// come before the answer that makes the call.
func (h *History) Meant(id, name, arguments string) {
	h.meant[id] = model.ToolCall{Name: name, Arguments: arguments}
}
