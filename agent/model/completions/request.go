package completions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"buddy/agent/model"
	"buddy/agent/model/wire"
)

type encoder struct {
	origin string // see wire.Client.Origin; only fields with this origin are sent
	with   *wire.Remedied
	marked map[int]bool // indexes of messages that end with a cache mark
	callID func(id string) string

	unsigned bool // calls without a signature get a placeholder, see unsigned
}

// encode returns the messages array. It does not use the SDK's encoder, because unknown fields and an explicit null
// content must be kept, and a message must have the same bytes in every request.
func (e encoder) encode(msgs []model.Message) ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, m := range msgs {
		m.Extra = own(m.Extra, e.origin)
		if silent(m) {
			continue
		}
		m = e.message(m)
		b, err := m.EncodeWith(content(m, e.marked[i]))
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(b)
	}
	out.WriteByte(']')
	return out.Bytes(), nil
}

// message returns a message in the form that this server accepts.
func (e encoder) message(m model.Message) model.Message {
	if m.Role == model.Tool {
		m.Name = "" // the id identifies the call
		m.ToolCallID = e.callID(m.ToolCallID)
	}
	if m.Role == model.Assistant && m.Extra[reasoningKey] == nil && e.with.With(wire.NeedsReasoning) {
		extra := map[string]json.RawMessage{reasoningKey: json.RawMessage(`" "`)} // Kimi refuses ""
		maps.Copy(extra, m.Extra)
		m.Extra = extra
	}
	m.ToolCalls = slices.Clone(m.ToolCalls) // the history has the original
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		c.ID = e.callID(c.ID)
		c.Arguments, c.Extra = model.Object(c.Arguments), own(c.Extra, e.origin)
		if e.unsigned && i == 0 && c.Extra[signatureKey] == nil {
			c.Extra = unsigned(c.Extra)
		}
	}
	return m
}

// signatureKey is the member of a call that has Gemini's signature.
const signatureKey = "extra_content"

// unsigned adds a placeholder for a missing signature to the extra members of a call, because calls of other models
// have none. Gemini 3 refuses an answer whose first call has no signature:
// ai.google.dev/gemini-api/docs/thought-signatures.
func unsigned(extra map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{signatureKey: json.RawMessage(`{"google":{"thought_signature":"skip_thought_signature_validator"}}`)}
	maps.Copy(out, extra)
	return out
}

// silent reports whether an answer is empty in this protocol, for example because all of it was specific to another
// provider. Servers refuse empty answers.
func silent(m model.Message) bool {
	return m.Role == model.Assistant && strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0 && len(m.Extra) == 0
}

// The parts of a message with images.
type (
	part struct {
		Type  string    `json:"type"`
		Text  string    `json:"text,omitempty"`
		Image *imageURL `json:"image_url,omitempty"`
		Cache *cacheEnd `json:"cache_control,omitempty"`
	}
	cacheEnd struct {
		Type string `json:"type"`
	}
	imageURL struct {
		URL string `json:"url"`
	}
)

// marks returns the indexes of the messages up to which the provider should cache the request: the breakpoints of the
// system prompt, and the last two messages of the user or a tool. Only Claude through OpenRouter needs marks, at most
// four: openrouter.ai/docs/features/prompt-caching.
func marks(req model.Request, to wire.Provider, name string) map[int]bool {
	if req.NoCache || to != wire.OpenRouter || !strings.Contains(strings.ToLower(name), "claude") {
		return nil
	}
	var system []int
	for i, m := range req.Messages {
		if m.Role == model.System && strings.TrimSpace(m.Content) != "" {
			system = append(system, i)
		}
	}
	all := make(map[int]bool)
	for _, i := range req.Marks(len(system)) {
		all[system[i]] = true
	}
	remaining := min(2, 4-len(all))
	for i := len(req.Messages) - req.Ephemeral - 1; i >= 0; i-- {
		m := req.Messages[i]
		switch {
		case strings.TrimSpace(m.Content) == "" || m.Role == model.Assistant:
		case m.Role != model.System && remaining > 0:
			all[i] = true
			remaining--
		}
	}
	return all
}

// content returns the parts of a message with images or a mark; nil for other messages, whose content is sent as a
// string.
func content(m model.Message, marked bool) any {
	if len(m.Images) == 0 && !marked {
		return nil
	}
	var parts []part
	if strings.TrimSpace(m.Content) != "" {
		parts = append(parts, part{Type: "text", Text: m.Content})
	}
	for _, i := range m.Images {
		parts = append(parts, part{Type: "image_url", Image: &imageURL{wire.DataURL(i)}})
	}
	if marked {
		parts[0].Cache = &cacheEnd{"ephemeral"} // there is a text, see marks
	}
	return parts
}

// tools converts tool definitions. Without any, it returns nil, so that the request has no such key.
func tools(defs []model.ToolDef) []openai.Tool {
	var out []openai.Tool
	for _, d := range defs {
		out = append(out, openai.Tool{
			Type:     openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{Name: d.Name, Description: d.Description, Parameters: wire.Parameters(d)},
		})
	}
	return out
}
