package completions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"buddy/agent/model"
	"buddy/agent/model/wire"
)

// encode writes the messages array. Our own encoding is the authority: unknown fields
// and an explicit null content survive (M01, M02), and a message gives the same bytes
// in every request (C11).
func encode(msgs []model.Message) ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, m := range msgs {
		m.Extra = withoutNotes(m.Extra)
		if m.Role == model.Tool {
			m.Name = "" // only the id says whose result it is
		}
		if silent(m) {
			continue
		}
		b, err := m.EncodeWith(content(m))
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
	}
	imageURL struct {
		URL string `json:"url"`
	}
)

// content is the content of a message: nil for what it is without images.
func content(m model.Message) any {
	if len(m.Images) == 0 {
		return nil
	}
	var parts []part
	if strings.TrimSpace(m.Content) != "" {
		parts = append(parts, part{Type: "text", Text: m.Content})
	}
	for _, i := range m.Images {
		parts = append(parts, part{Type: "image_url", Image: &imageURL{wire.DataURL(i)}})
	}
	return parts
}

// withoutNotes leaves out what another adapter noted: a strict server would refuse it.
func withoutNotes(extra map[string]json.RawMessage) map[string]json.RawMessage {
	isNote := func(k string, _ json.RawMessage) bool { return strings.HasPrefix(k, model.Note) }
	for k := range extra {
		if isNote(k, nil) {
			extra = maps.Clone(extra) // it is the history's
			maps.DeleteFunc(extra, isNote)
			return extra
		}
	}
	return extra
}

// tools returns nil when there are none, so that the request has no such key (A07).
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
