package responses

import (
	"encoding/json"

	"buddy/agent/model"
	"buddy/texts"
)

// The types of custom tools: github.com/openai/openai-python, src/openai/types/responses, custom_tool.py,
// response_custom_tool_call.py, response_custom_tool_call_output.py and the events
// response_custom_tool_call_input_delta_event.py and …_done_event.py.
type (
	// customTool is a tool whose calls are text that follows a grammar.
	customTool struct {
		Type        string `json:"type"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Format      format `json:"format"`
	}
	format struct {
		Type       string `json:"type"`
		Syntax     string `json:"syntax"`
		Definition string `json:"definition"`
	}
	customCall struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Name   string `json:"name"`
		Input  string `json:"input"`
	}
)

// unnamedText is the argument to which free text belongs if the tool has no argument for free text. The tool refuses a
// call with such an argument.
const unnamedText = "input"

// calls reports whether an item is a call, with JSON arguments or with free text.
func (i *item) calls() bool { return i.kind == callItem || i.kind == freeItem }

// named records the tool that an item calls, and the argument to which its free text belongs.
func (a *answer) named(i *item, name string) {
	i.call.Name = name
	if i.kind != freeItem {
		return
	}
	i.free = unnamedText
	for _, d := range a.tools {
		if d.Name == name && d.Free != nil {
			i.free = d.Free.Argument
		}
	}
}

// wrapped returns free text as JSON arguments, the form that the rest of buddy uses.
func wrapped(argument, text string) string {
	b, err := texts.JSON(map[string]string{argument: text})
	if err != nil {
		return "{}" // a string: cannot happen
	}
	return string(b)
}

// unwrapped returns the free text in arguments made by wrapped.
func unwrapped(argument, arguments string) (text string, ok bool) {
	var values map[string]string
	if json.Unmarshal([]byte(arguments), &values) != nil || len(values) != 1 {
		return "", false
	}
	text, ok = values[argument]
	return text, ok
}

// made adds a call in the form in which the model made it: free text or JSON.
func (in *input) made(c model.ToolCall, argument string) error {
	text, ok := unwrapped(argument, c.Arguments)
	if !in.free || argument == "" || !ok {
		return in.call(c)
	}
	in.freed[c.ID] = true
	return in.add(customCall{freeItem, in.callID(c.ID), c.Name, text})
}

// output adds the result of a call. Its form depends on whether the call was free text or JSON.
func (in *input) output(m model.Message) error {
	kind := "function_call_output"
	if in.freed[m.ToolCallID] {
		kind = "custom_tool_call_output"
	}
	return in.add(functionOutput{kind, in.callID(m.ToolCallID), m.Content})
}
