package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"buddy/agent/model"
)

// item is an item of a request in the Responses protocol.
type item struct {
	Type, Role string
	Content    content
	ID         string
	CallID     string `json:"call_id"`
	Name       string
	Arguments  json.RawMessage
	Input      json.RawMessage // of a custom tool's call
	Output     json.RawMessage
	Summary    []object
	Encrypted  string `json:"encrypted_content"`
}

// content is a list of parts. A string is decoded as a single part without a type.
type content []contentPart

type contentPart struct {
	Type, Text string
	Image      string `json:"image_url"`
}

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content{{Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]contentPart)(c))
}

// serverItems lists items that only a server creates, and that a client may send back.
var serverItems = []string{"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "compaction"}

// CheckResponses is like [Check], for the Responses protocol. It refuses an unknown or empty item, an output without a
// call, a call without an output, and reasoning that nothing follows. It also refuses reasoning without content,
// because the server has stored none.
func CheckResponses(body []byte) error {
	_, err := parseResponses(body)
	return err
}

type responsesBody struct {
	Model, Instructions string
	Input               []item
	Include             []string
	Store               *bool
	Stream              bool
	Tools               json.RawMessage
}

func parseResponses(body []byte) (responsesBody, error) {
	var b responsesBody
	var top object
	if err := json.Unmarshal(body, &top); err != nil {
		return b, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return b, fmt.Errorf("the body is not a request: %w", err)
	}
	_, hasMessages := top["messages"]
	switch {
	case b.Model == "":
		return b, errors.New("model is missing")
	case hasMessages:
		return b, errors.New("unknown parameter: messages")
	case b.Store != nil && *b.Store:
		return b, errors.New("store is true")
	case len(b.Input) == 0:
		return b, errors.New("input must be a non-empty list of items")
	}
	if err := checkFlatTools(b.Tools); err != nil {
		return b, err
	}
	c := itemChecker{seen: make(map[string]bool), free: make(map[string]bool)}
	for i, it := range b.Input {
		if err := c.item(it); err != nil {
			return b, fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	switch {
	case len(c.open) > 0:
		return b, fmt.Errorf("no tool output found for function calls: %s", strings.Join(c.open, ", "))
	case c.thought:
		return b, errors.New("a reasoning item without the item that follows it")
	}
	return b, nil
}

func checkFlatTools(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var tools []struct {
		Type, Name string
		Parameters object
		Format     toolFormat
	}
	if json.Unmarshal(raw, &tools) != nil || len(tools) == 0 {
		return errors.New("tools must be a non-empty list of tools")
	}
	names := make(map[string]bool)
	for i, t := range tools {
		if t.Type == "custom" {
			if t.Parameters != nil || t.Format.Type != "grammar" || t.Format.Syntax != "lark" || !strings.HasPrefix(t.Format.Definition, "start:") {
				return fmt.Errorf("tools[%d]: a custom tool with parameters or without a grammar", i)
			}
			t.Type, t.Parameters = "function", object{} // the rest is alike
		}
		if err := checkTool(names, t.Type, t.Name, t.Parameters); err != nil {
			return fmt.Errorf("tools[%d]: %w", i, err)
		}
	}
	return nil
}

// toolFormat is the format of a custom tool's text.
type toolFormat struct{ Type, Syntax, Definition string }

// freeTools reads the tools of a request. Custom tools get a Free.
func freeTools(raw json.RawMessage) (defs []model.ToolDef) {
	var forms []struct{ Format toolFormat }
	_, _ = json.Unmarshal(raw, &defs), json.Unmarshal(raw, &forms) // they were checked
	for i, f := range forms {
		if f.Format.Type != "" {
			defs[i].Free = &model.FreeText{Grammar: f.Format.Definition}
		}
	}
	return defs
}

type itemChecker struct {
	open    []string        // ids of calls without an output yet
	free    map[string]bool // ids of calls of custom tools
	seen    map[string]bool // ids of all calls
	results bool            // outputs of the open calls have started
	thought bool            // the last item was reasoning
}

func (c *itemChecker) item(it item) error {
	if !strings.HasSuffix(it.Type, "call_output") && c.results && len(c.open) > 0 {
		return fmt.Errorf("an item of type %q comes before the outputs of these calls: %s", it.Type, strings.Join(c.open, ", "))
	}
	thought := c.thought
	c.thought = it.Type == "reasoning"
	switch it.Type {
	case "message":
		return c.message(it, thought)
	case "reasoning":
		if it.ID == "" || it.Summary == nil || it.Encrypted == "" && len(it.Content) == 0 {
			return errors.New("a reasoning item without id, summary or content")
		}
		return nil
	case "function_call":
		return c.call(it, it.Arguments)
	case "custom_tool_call":
		c.free[it.CallID] = true
		return c.call(it, it.Input)
	case "function_call_output", "custom_tool_call_output":
		return c.output(it, thought)
	}
	if !slices.Contains(serverItems, it.Type) {
		return fmt.Errorf("unknown item %q", it.Type)
	}
	return nil
}

func (c *itemChecker) message(it item, thought bool) error {
	switch {
	case it.Role == "user" && thought:
		return fmt.Errorf("a %q message follows reasoning", it.Role)
	case it.Role == "user" && len(c.open) > 0:
		return fmt.Errorf("a %q message comes before the outputs of these calls: %s", it.Role, strings.Join(c.open, ", "))
	}
	switch it.Role {
	case "user":
		return checkPrompt(it)
	case "assistant":
		return checkAnswer(it)
	}
	return fmt.Errorf("unknown role %q", it.Role)
}

// checkAnswer checks an answer that the client sends back: its content must be one string.
func checkAnswer(it item) error {
	if len(it.Content) != 1 || it.Content[0].Type != "" || strings.TrimSpace(it.Content[0].Text) == "" {
		return errors.New("the content of an answer is blank or not a string")
	}
	return nil
}

// checkPrompt checks a user's message: its parts must be pictures or text.
func checkPrompt(it item) error {
	const kind = "input_text"
	if len(it.Content) == 0 {
		return fmt.Errorf("the content of %q is empty", it.Role)
	}
	for _, p := range it.Content {
		if p.Type == "input_image" {
			if _, err := dataURL(p.Image); err != nil {
				return err
			}
			continue
		}
		if p.Type != kind || strings.TrimSpace(p.Text) == "" {
			return fmt.Errorf("a part of %q is blank, or %q instead of %q", it.Role, p.Type, kind)
		}
	}
	return nil
}

// call checks a call. text holds its arguments, or the input of a custom tool.
func (c *itemChecker) call(it item, text json.RawMessage) error {
	switch {
	case it.CallID == "" || it.Name == "":
		return errors.New("a function call without call_id or name")
	case c.seen[it.CallID]:
		return fmt.Errorf("the call_id %q came before", it.CallID)
	case len(text) == 0 || text[0] != '"':
		return fmt.Errorf("the arguments of the call %q are not a string", it.CallID)
	}
	c.seen[it.CallID] = true
	c.open = append(c.open, it.CallID)
	c.results = false
	return nil
}

func (c *itemChecker) output(it item, thought bool) error {
	switch {
	case thought:
		return errors.New("an output follows reasoning")
	case len(c.open) == 0 || c.open[0] != it.CallID:
		return fmt.Errorf("an unexpected output for %q; calls without an output, in order: [%s]", it.CallID, strings.Join(c.open, ", "))
	case c.free[it.CallID] != (it.Type == "custom_tool_call_output"):
		return fmt.Errorf("an item of %q for a call of another type, %q", it.Type, it.CallID)
	case str(it.Output) == "":
		return fmt.Errorf("the output for %q is empty", it.CallID)
	}
	c.open = c.open[1:]
	c.results = len(c.open) > 0
	return nil
}

// readResponses converts a request to the form that scripts get: its items become messages.
func readResponses(h http.Header, body []byte) Request {
	req := Request{Header: h, Body: body}
	b, err := parseResponses(body)
	if req.Refused = err; err != nil {
		return req
	}
	req.Model, req.stream = b.Model, b.Stream
	req.Tools = freeTools(b.Tools)
	if b.Instructions != "" {
		req.Messages = append(req.Messages, model.Message{Role: model.System, Content: b.Instructions})
	}
	for _, it := range b.Input {
		req.Messages = addItem(req.Messages, it)
	}
	return req
}

// addItem adds an item to the message that it belongs to.
func addItem(msgs []model.Message, it item) []model.Message {
	last := len(msgs) - 1
	switch it.Type {
	case "message":
		m := model.Message{Role: model.Role(it.Role)}
		for _, p := range it.Content {
			m.Content += p.Text
			if p.Image != "" {
				image, _ := dataURL(p.Image) // it was checked
				m.Images = append(m.Images, image)
			}
		}
		return append(msgs, m)
	case "function_call", "custom_tool_call":
		if last < 0 || msgs[last].Role != model.Assistant {
			msgs = append(msgs, model.Message{Role: model.Assistant})
			last++
		}
		msgs[last].ToolCalls = append(msgs[last].ToolCalls, model.ToolCall{ID: it.CallID, Name: it.Name, Arguments: str(it.Arguments) + str(it.Input)})
	case "function_call_output", "custom_tool_call_output":
		return append(msgs, model.Message{Role: model.Tool, ToolCallID: it.CallID, Content: str(it.Output)})
	}
	return msgs
}
