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

// encoder writes the conversation of one request.
type encoder struct {
	origin string // see wire.Client.Origin; fields beyond the protocol are for it alone
	with   *wire.Remedied
	marked map[int]bool // messages that end with a mark for the cache, by index
	callID func(id string) string

	unsigned bool // calls without a signature say so, see unsigned
}

// encode writes the messages array. Our own encoding is the authority: unknown fields
// and an explicit null content survive, and a message gives the same bytes
// in every request.
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

// message returns a message as this server takes it.
func (e encoder) message(m model.Message) model.Message {
	if m.Role == model.Tool {
		m.Name = "" // only the id says whose result it is
		m.ToolCallID = e.callID(m.ToolCallID)
	}
	if m.Role == model.Assistant && m.Extra[reasoningKey] == nil && e.with.With(wire.NeedsReasoning) {
		extra := map[string]json.RawMessage{reasoningKey: json.RawMessage(`" "`)} // Kimi refuses ""
		maps.Copy(extra, m.Extra)
		m.Extra = extra
	}
	m.ToolCalls = slices.Clone(m.ToolCalls) // they are the history's
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

// unsigned adds to the extra members of a call that it has no signature, as those of other models have
// none. Gemini 3 refuses the first call of an answer without: ai.google.dev/gemini-api/docs/thought-signatures.
func unsigned(extra map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{signatureKey: json.RawMessage(`{"google":{"thought_signature":"skip_thought_signature_validator"}}`)}
	maps.Copy(out, extra)
	return out
}

// silent reports whether an answer says nothing in this protocol, such as one that only
// held what another provider understands. Servers refuse it.
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

// marks returns which messages are the ends of prefixes that the provider is to keep: the
// breakpoints of the system prompt and the last two that are not the model's. Only Claude behind OpenRouter
// wants to be told, at most four times: openrouter.ai/docs/features/prompt-caching.
func marks(req model.Request, to wire.Provider, name string) map[int]bool {
	if to != wire.OpenRouter || !strings.Contains(strings.ToLower(name), "claude") {
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

// content is the content of a message: nil for what it is without images and marks.
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

// tools returns nil when there are none, so that the request has no such key.
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
