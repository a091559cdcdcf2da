package responses

import (
	"encoding/json"

	"buddy/agent/model"
	"buddy/texts"
)

// The types of custom tools, as in github.com/openai/openai-python, src/openai/types/responses: custom_tool.py,
// response_custom_tool_call.py, response_custom_tool_call_output.py, and for the events
// response_custom_tool_call_input_delta_event.py and …_done_event.py.
type (
	// customTool is a tool that the model calls with plain text that follows a grammar.
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

// unnamedText is the argument that gets the text if the model calls a tool with plain text although the tool does not
// support that. The tool then refuses the call.
const unnamedText = "input"

// calls reports whether an item is a call, with JSON arguments or with plain text.
func (i *item) calls() bool { return i.kind == callItem || i.kind == freeItem }

// named records which tool an item calls and, if it does so with plain text, the argument that gets the text.
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

// wrapped returns the JSON arguments that the rest of buddy uses in place of plain text.
func wrapped(argument, text string) string {
	b, err := texts.JSON(map[string]string{argument: text})
	if err != nil {
		return "{}" // a string: cannot happen
	}
	return string(b)
}

// unwrapped returns the plain text from which wrapped made the arguments.
func unwrapped(argument, arguments string) (text string, ok bool) {
	var values map[string]string
	if json.Unmarshal([]byte(arguments), &values) != nil || len(values) != 1 {
		return "", false
	}
	text, ok = values[argument]
	return text, ok
}

// made adds a call as the model made it: with plain text or with JSON.
func (in *input) made(c model.ToolCall, argument string) error {
	text, ok := unwrapped(argument, c.Arguments)
	if !in.free || argument == "" || !ok {
		return in.call(c)
	}
	in.freed[c.ID] = true
	return in.add(customCall{freeItem, in.callID(c.ID), c.Name, text})
}

// output adds the result of a call. Results of calls with plain text are encoded differently from results of calls with
// JSON.
func (in *input) output(m model.Message) error {
	kind := "function_call_output"
	if in.freed[m.ToolCallID] {
		kind = "custom_tool_call_output"
	}
	return in.add(functionOutput{kind, in.callID(m.ToolCallID), m.Content})
}
