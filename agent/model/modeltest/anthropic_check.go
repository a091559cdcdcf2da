package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/model"
)

// contentBlock is a content block of any kind.
type contentBlock struct {
	Type      string
	Text      string
	ID, Name  string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   json.RawMessage
	Thinking  string
	Signature string
	Data      string
	Source    struct {
		Type      string
		MediaType string `json:"media_type"`
		Data      []byte
	}
	Cache *struct{ Type string } `json:"cache_control"`
}

// topKeys are the known members of a request to /messages.
var topKeys = []string{"model", "max_tokens", "thinking", "output_config", "context_management", "system", "tools", "messages", "stream", "temperature", "top_p"}

var (
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// CheckMessages returns an error if Anthropic would refuse a request of the Messages protocol, because of turns that do
// not alternate, a call without its result in the next turn, a blank text, a changed thinking block, too many cache
// marks, or a missing max_tokens.
func CheckMessages(body []byte) error {
	var top object
	if err := json.Unmarshal(body, &top); err != nil {
		return fmt.Errorf("the body is not a JSON object: %w", err)
	}
	for k := range top {
		if !slices.Contains(topKeys, k) {
			return fmt.Errorf("%s: extra inputs are not permitted", k)
		}
	}
	var limit int
	switch {
	case str(top["model"]) == "":
		return errors.New("model is missing")
	case json.Unmarshal(top["max_tokens"], &limit) != nil || limit < 1:
		return errors.New("max_tokens is not a number above 0")
	}
	if err := checkThinking(top["thinking"], limit); err != nil {
		return err
	}
	c := messagesChecker{seen: make(map[string]bool)}
	if err := c.system(top); err != nil {
		return err
	}
	if err := c.tools(top); err != nil {
		return err
	}
	return c.messages(top)
}

// checkThinking checks that the thinking budget is smaller than limit, the limit of the whole answer.
func checkThinking(raw json.RawMessage, limit int) error {
	if raw == nil {
		return nil
	}
	var t struct {
		Type   string
		Budget int `json:"budget_tokens"`
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("thinking: %w", err)
	}
	switch {
	case t.Type == "adaptive" && t.Budget == 0, t.Type == "disabled":
		return nil
	case t.Type != "enabled" || t.Budget < 1024 || t.Budget >= limit:
		return fmt.Errorf("thinking of type %q with a budget of %d where max_tokens is %d", t.Type, t.Budget, limit)
	}
	return nil
}

type messagesChecker struct {
	open  []string // ids of calls without a result yet
	seen  map[string]bool
	marks int
}

func (c *messagesChecker) messages(top object) error {
	var msgs []struct {
		Role    string
		Content []contentBlock
	}
	if err := json.Unmarshal(top["messages"], &msgs); err != nil || len(msgs) == 0 {
		return errors.New("messages must be a non-empty list of messages, each with blocks")
	}
	for i, m := range msgs {
		want := []string{"user", "assistant"}[i%2]
		if m.Role != want {
			return fmt.Errorf("messages[%d]: the role is %q where %q is due", i, m.Role, want)
		}
		if err := c.turn(m.Role, m.Content); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	switch {
	case len(c.open) > 0:
		return fmt.Errorf("tool calls without a result: %s", strings.Join(c.open, ", "))
	case c.marks > 4:
		return fmt.Errorf("%d blocks have cache_control (allowed: 4)", c.marks)
	}
	return nil
}

func (c *messagesChecker) system(top object) error {
	raw, ok := top["system"]
	if !ok {
		return nil
	}
	var list []contentBlock
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return errors.New("system must be a non-empty list of blocks")
	}
	for i, b := range list {
		if b.Type != "text" {
			return fmt.Errorf("system[%d]: a block of type %q", i, b.Type)
		}
		if err := c.block(b); err != nil {
			return fmt.Errorf("system[%d]: %w", i, err)
		}
	}
	return nil
}

func (c *messagesChecker) tools(top object) error {
	raw, ok := top["tools"]
	if !ok {
		return nil
	}
	var tools []struct {
		Name   string
		Schema struct{ Type string }  `json:"input_schema"`
		Cache  *struct{ Type string } `json:"cache_control"`
	}
	if json.Unmarshal(raw, &tools) != nil || len(tools) == 0 {
		return errors.New("tools must be a non-empty list of tools")
	}
	names := make(map[string]bool)
	for i, t := range tools {
		switch {
		case !toolName.MatchString(t.Name):
			return fmt.Errorf("tools[%d]: the name %q", i, t.Name)
		case names[t.Name]:
			return fmt.Errorf("tools[%d]: %q is there twice", i, t.Name)
		case t.Schema.Type != "object":
			return fmt.Errorf("tools[%d]: input_schema is not a schema of an object", i)
		}
		if t.Cache != nil {
			c.marks++
		}
		names[t.Name] = true
	}
	return nil
}

func (c *messagesChecker) turn(role string, content []contentBlock) error {
	if len(content) == 0 {
		return errors.New("the content is empty")
	}
	due := c.open
	c.open = nil
	for i, b := range content {
		var err error
		switch {
		case role == "user":
			due, err = userBlock(due, b)
		case b.Type == "tool_use":
			err = c.call(b)
		}
		if err == nil {
			err = c.block(b)
		}
		if err != nil {
			return fmt.Errorf("content[%d]: %w", i, err)
		}
	}
	if len(due) > 0 {
		return fmt.Errorf("no results for: %s", strings.Join(due, ", "))
	}
	if last := content[len(content)-1].Type; role == "assistant" && strings.HasSuffix(last, "thinking") {
		return fmt.Errorf("the last block is %s", last)
	}
	return nil
}

func (b contentBlock) image() model.Image {
	return model.Image{MediaType: b.Source.MediaType, Data: b.Source.Data}
}

// userBlock checks a block of a user turn. due holds the calls whose results are still missing; userBlock returns them
// without the one that the block answers.
func userBlock(due []string, b contentBlock) ([]string, error) {
	switch {
	case b.Type == "tool_result":
		return result(due, b)
	case len(due) > 0:
		return due, fmt.Errorf("a block of type %q comes before the results of these calls: %s", b.Type, strings.Join(due, ", "))
	case b.Type == "image":
		return due, b.image().Check()
	case b.Type != "text":
		return due, fmt.Errorf("a block of type %q", b.Type)
	}
	return due, nil
}

// result checks a result, and returns due without the call that it belongs to.
func result(due []string, b contentBlock) ([]string, error) {
	i := slices.Index(due, b.ToolUseID)
	if i < 0 {
		return due, fmt.Errorf("an unexpected result for %q; calls without a result: [%s]", b.ToolUseID, strings.Join(due, ", "))
	}
	return slices.Delete(slices.Clone(due), i, i+1), nil
}

func (c *messagesChecker) call(b contentBlock) error {
	var input object
	switch {
	case !callID.MatchString(b.ID) || c.seen[b.ID]:
		return fmt.Errorf("the id %q of a tool call is no id or came before", b.ID)
	case !toolName.MatchString(b.Name):
		return fmt.Errorf("the tool call %q has the name %q", b.ID, b.Name)
	case json.Unmarshal(b.Input, &input) != nil || input == nil:
		return fmt.Errorf("the input of the tool call %q is not an object", b.ID)
	}
	c.seen[b.ID] = true
	c.open = append(c.open, b.ID)
	return nil
}

// block checks the rules that apply to every block.
func (c *messagesChecker) block(b contentBlock) error {
	if b.Cache != nil {
		c.marks++
		if b.Cache.Type != "ephemeral" || strings.HasSuffix(b.Type, "thinking") {
			return fmt.Errorf("cache_control of type %q on a block of type %q", b.Cache.Type, b.Type)
		}
	}
	switch {
	case b.Type == "":
		return errors.New("a block without a type")
	case b.Type == "text" && strings.TrimSpace(b.Text) == "":
		return errors.New("the text is blank")
	case b.Type == "thinking" && b.Signature != signature(b.Thinking):
		return errors.New("the signature is not that of the thinking")
	case b.Type == "redacted_thinking" && b.Data == "":
		return errors.New("redacted_thinking without data")
	}
	return nil
}
