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
	// Randomness of answers, under the same names as in OpenAI's protocols.
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`

	Output   *outputConfig `json:"output_config,omitempty"`
	Manage   *management   `json:"context_management,omitempty"`
	System   []any         `json:"system,omitempty"`
	Tools    []tool        `json:"tools,omitempty"` // omitted if there are none
	Messages []turn        `json:"messages"`
	Stream   bool          `json:"stream"`
}

// management asks the server to summarize a long conversation:
// platform.claude.com/docs/en/build-with-claude/compaction.
type management struct {
	Edits []edit `json:"edits"`
}

type edit struct {
	Type    string  `json:"type"`
	Trigger trigger `json:"trigger"`
}

type trigger struct {
	Type  string `json:"type"`
	Value int    `json:"value"`
}

// compactionBeta is the value of the header Anthropic-Beta for [management].
const compactionBeta = "compact-2026-01-12"

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	// Eager makes the server send arguments as the model writes them; otherwise a file's contents arrive as one piece
	// after minutes of silence. Only Anthropic's own servers document it.
	Eager bool          `json:"eager_input_streaming,omitempty"`
	Cache *cacheControl `json:"cache_control,omitempty"`
}

// turn is one message. Its content consists of *part, and of json.RawMessage for kept blocks.
type turn struct {
	Role    model.Role `json:"role"`
	Content []any      `json:"content"`
}

// part is a content block that buddy creates itself, unlike a kept block.
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

// ephemeral is the cache mark: the provider caches everything up to it for some minutes.
var ephemeral = &cacheControl{"ephemeral"}

// encode encodes a request. Apart from cache marks, the same messages always become the same bytes, so that the
// provider can use its cache of the previous request.
func (m *adapter) encode(req model.Request, with *wire.Remedied) ([]byte, error) {
	if err := m.client.CheckImages(req.Messages); err != nil {
		return nil, err
	}
	r := request{Model: m.client.Info().Model, MaxTokens: m.maxTokens, Stream: true}
	if n := m.client.Compacts(with); n > 0 {
		r.Manage = &management{[]edit{{"compact_20260112", trigger{"input_tokens", n}}}}
	}
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
	if !req.NoCache && !with.With(wire.NoCacheMarks) {
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

// add appends a message. Consecutive messages of the same role become one turn; for example, the results of several
// calls and the user's next message.
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

// images returns the parts for images. They precede the text, as the provider recommends:
// platform.claude.com/docs/en/build-with-claude/vision.
func images(all []model.Image) (parts []any) {
	for _, i := range all {
		parts = append(parts, &part{Type: "image", Source: &source{"base64", i.MediaType, i.Data}})
	}
	return parts
}

// addText appends a text unless it is blank: the provider refuses blank texts.
func addText(parts []any, text string) []any {
	if strings.TrimSpace(text) == "" {
		return parts
	}
	return append(parts, &part{Type: "text", Text: text})
}

// mark sets the four cache marks that a request may have: on some system messages, on the tools, on the last user turn
// and, if a mark remains, on the user turn before it. The previous request has already marked that earlier turn, but a
// cache lookup reaches back only twenty blocks, and a turn with many calls has more.
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

// safe returns an id or a name in the characters that Anthropic accepts; those of other models may contain others.
// Different ids stay different.
func safe(id string) string {
	if id == wire.SafeLetters(id) {
		return id
	}
	return wire.Hashed(id, len(id)+9)
}
