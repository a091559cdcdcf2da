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
		if i > 0 {
			out.WriteByte(',')
		}
		m.Extra = withoutNotes(m.Extra)
		b, err := m.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		out.Write(b)
	}
	out.WriteByte(']')
	return out.Bytes(), nil
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
