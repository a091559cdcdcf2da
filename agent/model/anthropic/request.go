package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"buddy/agent/model"
	"buddy/agent/model/wire"
	"buddy/texts"
)

// request is the body of a request.
type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	Thinking  *thinking `json:"thinking,omitempty"`
	// What chance there is in answers; the protocol has the names of OpenAI's.
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`

	Output   *outputConfig `json:"output_config,omitempty"`
	System   []any         `json:"system,omitempty"`
	Tools    []tool        `json:"tools,omitempty"` // no key when there are none
	Messages []turn        `json:"messages"`
	Stream   bool          `json:"stream"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	// Eager streams the arguments as they are written: else a file's contents come as one
	// piece after minutes of silence. Documented for the provider itself only.
	Eager bool          `json:"eager_input_streaming,omitempty"`
	Cache *cacheControl `json:"cache_control,omitempty"`
}

// turn is one message. Its content is made of *part, and of json.RawMessage for blocks
// that were kept.
type turn struct {
	Role    model.Role `json:"role"`
	Content []any      `json:"content"`
}

// part is a content block that we write.
type part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Source    *source         `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cacheControl   `json:"cache_control,omitempty"`
}

// source is an image.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type cacheControl struct {
	Type string `json:"type"`
}

// ephemeral marks the end of a prefix that the provider is to keep for some minutes.
var ephemeral = &cacheControl{"ephemeral"}

// encode writes a request. Apart from the marks for the cache, the messages of one
// request begin with the bytes of those of the request before.
func (m *adapter) encode(req model.Request, with *wire.Remedied) ([]byte, error) {
	if err := m.client.CheckImages(req.Messages); err != nil {
		return nil, err
	}
	r := request{Model: m.client.Info().Model, MaxTokens: m.maxTokens, Stream: true}
	sampling := m.client.SamplingOf(with)
	r.Temperature, r.TopP = sampling.Temperature, sampling.TopP
	for _, d := range req.Tools {
		if len(d.Parameters) == 0 {
			d.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		r.Tools = append(r.Tools, tool{Name: d.Name, Description: d.Description, Schema: d.Parameters, Eager: m.client.Provider() == wire.Anthropic})
	}
	stays := len(req.Messages) - req.Ephemeral
	for _, msg := range req.Messages[:stays] {
		r.add(msg)
	}
	if !with.With(wire.NoCacheMarks) {
		r.mark(req.Marks(len(r.System)))
	}
	for _, msg := range req.Messages[stays:] {
		r.add(msg)
	}
	m.think(&r, with)
	body, err := texts.JSON(r)
	if err != nil {
		return nil, fmt.Errorf("the request: %w", err)
	}
	return body, nil
}

// add appends a message. What is said by the same side in a row is one turn, so that
// the results of several calls are together, with what the person said after them.
func (r *request) add(m model.Message) {
	switch m.Role {
	case model.System:
		r.System = addText(r.System, m.Content)
	case model.Assistant:
		r.addTurn(model.Assistant, assistant(m, r.Model))
	case model.Tool:
		p := &part{Type: "tool_result", ToolUseID: safe(m.ToolCallID), IsError: m.Failed}
		if strings.TrimSpace(m.Content) != "" {
			p.Content = m.Content
		}
		r.addTurn(model.User, []any{p})
	default:
		r.addTurn(model.User, addText(images(m.Images), m.Content))
	}
}

func (r *request) addTurn(role model.Role, parts []any) {
	if len(parts) == 0 {
		return
	}
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
		r.Messages[n-1].Content = append(r.Messages[n-1].Content, parts...)
		return
	}
	r.Messages = append(r.Messages, turn{role, parts})
}

// images come before the text that speaks of them, as the provider advises:
// platform.claude.com/docs/en/build-with-claude/vision.
func images(all []model.Image) (parts []any) {
	for _, i := range all {
		parts = append(parts, &part{Type: "image", Source: &source{"base64", i.MediaType, i.Data}})
	}
	return parts
}

// addText appends a text. Blank ones are refused by the provider.
func addText(parts []any, text string) []any {
	if strings.TrimSpace(text) == "" {
		return parts
	}
	return append(parts, &part{Type: "text", Text: text})
}

// mark sets the four marks that a request may have: some system messages, the tools,
// and the last of our turns, with the one before if a mark is left. That was marked as the last one before: a
// cache looks back over twenty blocks only, which many calls at once exceed.
func (r *request) mark(system []int) {
	for _, i := range system {
		markLast(r.System[:i+1])
	}
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].Cache = ephemeral
	}
	remaining := min(2, 3-len(system))
	for i := len(r.Messages) - 1; i >= 0 && remaining > 0; i-- {
		if r.Messages[i].Role == model.User {
			markLast(r.Messages[i].Content)
			remaining--
		}
	}
}

func markLast(parts []any) {
	if len(parts) == 0 {
		return
	}
	if p, ok := parts[len(parts)-1].(*part); ok {
		p.Cache = ephemeral
	}
}

// safe returns an id or a name in the letters that this provider takes. Those of others,
// after a switch of the model, may have more; different ones stay different.
func safe(id string) string {
	if id == wire.SafeLetters(id) {
		return id
	}
	return wire.Hashed(id, len(id)+9)
}
