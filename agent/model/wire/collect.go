package wire

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"buddy/agent/model"
)

// Collector gathers the text and the tool calls of an answer, and emits them as they arrive.
type Collector struct {
	Emit  Emit
	Text  strings.Builder
	Calls []*Call
}

// Call is a tool call whose pieces are still arriving.
type Call struct {
	ID, Name string
	Args     []byte
	Extra    map[string]json.RawMessage // sent back with the call
	ready    bool                       // CallReady was emitted
}

// AddText adds and emits text.
func (c *Collector) AddText(s string) error {
	if s == "" {
		return nil
	}
	c.Text.WriteString(s)
	return c.Emit(model.Delta{Kind: model.Text, Text: s})
}

// Begin adds a call. If the call has no id, or the same id as an earlier call, it gets a new one that starts with
// prefix.
func (c *Collector) Begin(call *Call, prefix string) {
	if call.ID == "" || slices.ContainsFunc(c.Calls, func(o *Call) bool { return o.ID == call.ID }) {
		call.ID = prefix + rand.Text()
	}
	c.Calls = append(c.Calls, call)
}

// Add adds and emits a piece of a call's arguments.
func (c *Collector) Add(call *Call, s string) error {
	switch {
	case s == "", call.ready && strings.TrimSpace(s) == "":
		return nil
	case call.ready:
		return Bad("the answer continues a tool call that was complete", []byte(s), nil)
	}
	call.Args = append(call.Args, s...)
	return c.Emit(model.Delta{Kind: model.CallDelta, CallID: call.ID, Text: s})
}

// Ready emits a complete call, but only once. If the call has no arguments, they become an empty object.
func (c *Collector) Ready(call *Call) error {
	call.fill()
	if call.ready {
		return nil
	}
	call.ready = true
	t := call.toolCall()
	return c.Emit(model.Delta{Kind: model.CallReady, CallID: t.ID, Call: &t})
}

func (c *Call) fill() {
	if len(bytes.TrimSpace(c.Args)) == 0 {
		c.Args = []byte("{}")
	}
}

func (c *Call) toolCall() model.ToolCall {
	return model.ToolCall{ID: c.ID, Name: c.Name, Arguments: string(c.Args), Extra: c.Extra}
}

// End emits the calls that are complete once the answer has ended, and returns the message and the finish reason. If
// finish is empty, the reason depends on whether there are calls.
func (c *Collector) End(finish string) (m *model.Message, reason string, err error) {
	switch {
	case finish != "":
	case len(c.Calls) > 0:
		finish = model.FinishToolCalls
	default:
		finish = model.FinishStop
	}
	// If the answer was cut off, its calls may be incomplete.
	whole := finish != model.FinishLength && finish != model.FinishContext && finish != model.FinishContentFilter
	m = &model.Message{Role: model.Assistant, Content: c.Text.String()}
	for _, call := range c.Calls {
		call.fill()
		if whole {
			if err := c.Ready(call); err != nil {
				return nil, "", err
			}
		}
		m.ToolCalls = append(m.ToolCalls, call.toolCall())
	}
	return m, finish, nil
}
