package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

type object = map[string]json.RawMessage

// Check returns an error if a strict provider would refuse a request, because of an unknown role, an empty message, a
// call that its result does not directly follow, a result without a call, or an empty list of tools.
func Check(body []byte) error {
	var top object
	if err := json.Unmarshal(body, &top); err != nil {
		return fmt.Errorf("the body is not a JSON object: %w", err)
	}
	if str(top["model"]) == "" {
		return errors.New("model is missing")
	}
	if _, ok := top["stream_options"]; ok && string(top["stream"]) != "true" {
		return errors.New("stream_options without stream")
	}
	if err := checkTools(top); err != nil {
		return err
	}
	var msgs []object
	if err := json.Unmarshal(top["messages"], &msgs); err != nil || len(msgs) == 0 {
		return errors.New("messages must be a non-empty list of messages")
	}
	c := checker{seen: make(map[string]bool)}
	for i, m := range msgs {
		if err := c.message(m); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(c.open) > 0 {
		return fmt.Errorf("tool calls without a result: %s", strings.Join(c.open, ", "))
	}
	return nil
}

func checkTools(top object) error {
	raw, ok := top["tools"]
	if !ok {
		return nil
	}
	var tools []struct {
		Type     string
		Function struct {
			Name       string
			Parameters object
		}
	}
	if json.Unmarshal(raw, &tools) != nil || len(tools) == 0 {
		return errors.New("tools must be a non-empty list of tools")
	}
	names := make(map[string]bool)
	for i, t := range tools {
		if err := checkTool(names, t.Type, t.Function.Name, t.Function.Parameters); err != nil {
			return fmt.Errorf("tools[%d]: %w", i, err)
		}
	}
	return nil
}

// checkTool checks one tool and adds its name to names.
func checkTool(names map[string]bool, kind, name string, parameters object) error {
	switch {
	case kind != "function" || name == "":
		return errors.New("not a function with a name")
	case names[name]:
		return fmt.Errorf("%q is there twice", name)
	case parameters == nil:
		return errors.New("parameters is not a schema")
	}
	names[name] = true
	return nil
}

// str returns a JSON string's value; "" for anything else.
func str(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // the zero value is the result then
	return s
}

type checker struct {
	open []string        // ids of calls without a result yet
	seen map[string]bool // ids of all calls
}

func (c *checker) message(m object) error {
	role := str(m["role"])
	if len(c.open) > 0 && role != "tool" {
		return fmt.Errorf("a %q message comes before the results of these calls: %s", role, strings.Join(c.open, ", "))
	}
	content, hasContent := m["content"]
	if !hasContent {
		return errors.New("content is missing; it may be null only with tool calls")
	}
	switch role {
	case "system", "user":
		if parts, ok := chatParts(content); ok && role == "user" {
			return checkParts(parts)
		}
		if strings.TrimSpace(str(content)) == "" {
			return fmt.Errorf("the content of %q is blank", role)
		}
		return nil
	case "assistant":
		return c.assistant(m, content)
	case "tool":
		return c.result(m, content)
	}
	return fmt.Errorf("unknown role %q", role)
}

// checkParts checks the texts and images of a user's message.
func checkParts(parts []chatPart) error {
	if len(parts) == 0 {
		return errors.New("the content of \"user\" is empty")
	}
	for _, p := range parts {
		switch {
		case p.Type == "text" && strings.TrimSpace(p.Text) != "":
		case p.Type == "image_url":
			if _, err := dataURL(p.Image.URL); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a part of type %q is unknown or blank", p.Type)
		}
	}
	return nil
}

func (c *checker) assistant(m object, content json.RawMessage) error {
	raw, hasCalls := m["tool_calls"]
	if !hasCalls {
		if strings.TrimSpace(str(content)) == "" {
			return errors.New("an assistant message with neither text nor calls")
		}
		return nil
	}
	if string(content) != "null" && str(content) == "" {
		return errors.New("the content of a message with tool calls is neither text nor null")
	}
	var calls []object
	if json.Unmarshal(raw, &calls) != nil || len(calls) == 0 {
		return errors.New("tool_calls must be a non-empty list of calls")
	}
	for _, call := range calls {
		var fn object
		id := str(call["id"])
		switch {
		case id == "":
			return errors.New("a tool call without an id")
		case c.seen[id]:
			return fmt.Errorf("the id %q of a tool call came before", id)
		case str(call["type"]) != "function" || json.Unmarshal(call["function"], &fn) != nil || str(fn["name"]) == "":
			return fmt.Errorf("the tool call %q is not a function with a name", id)
		case len(fn["arguments"]) == 0 || fn["arguments"][0] != '"':
			return fmt.Errorf("the arguments of the tool call %q are not a string", id)
		}
		c.seen[id] = true
		c.open = append(c.open, id)
	}
	return nil
}

func (c *checker) result(m object, content json.RawMessage) error {
	id := str(m["tool_call_id"])
	if len(c.open) == 0 || c.open[0] != id {
		return fmt.Errorf("an unexpected result for %q; calls without a result, in order: [%s]", id, strings.Join(c.open, ", "))
	}
	if str(content) == "" {
		return fmt.Errorf("the result for %q is empty", id)
	}
	c.open = c.open[1:]
	return nil
}
