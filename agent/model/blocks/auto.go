package blocks

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"buddy/agent/model"
	"buddy/agent/model/written"
)

// remedy is the name under which a session stores that a model is spoken to in blocks.
const remedy = "blocks"

// Why a model is spoken to in blocks, for people.
const (
	refused  = "its server refused a request because of its tools"
	unusable = "two of its answers had calls in their text that could not be used"
	learnt   = "that was needed earlier in this session"
)

// refusal matches what servers say of tools that a model, or they, can't take: Ollama "… does not support tools", vLLM
// "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", OpenRouter "No endpoints
// found that support tool use", llama.cpp "tools param requires --jinja flag".
var refusal = regexp.MustCompile(`(?i)support (tool|function)s?\b|tool choice requires|tools? param\w* requires|(tools?|tool[_ ]calls?|function calling)["'\x60]? (is|are) not (supported|enabled|available)`)

// maxUnused limits the answers with calls in their text that can't be used.
const maxUnused = 2

// learnt reports whether a session stores of the model that it is spoken to in blocks.
func (m *Model) learnt(n model.Needs) bool {
	if !n.Of(m.next.Info()) {
		return false
	}
	for _, r := range n.Remedies {
		if r.Name == remedy {
			return true
		}
	}
	return false
}

// begin begins to speak in blocks, and says so. It reports whether the reader is still there.
func (m *Model) begin(req model.Request, why string, yield func(model.Delta, error) bool) bool {
	m.why.Store(&why)
	info := m.next.Info()
	needs := model.Needs{
		Model: info.Model, BaseURL: info.BaseURL, Remedies: []model.Remedy{{Name: remedy}},
		Text: Line(m.Info()),
	}
	for _, n := range req.Needs {
		if n.Of(info) && !m.learnt(n) {
			needs.Remedies = append(needs.Remedies, n.Remedies...)
		}
	}
	return yield(model.Delta{Kind: model.Healed, Needs: &needs}, nil)
}

// Line says that a model is spoken to in blocks, why, and how a person changes it; "" if it is not.
func Line(info model.Info) string {
	if info.Blocks == "" {
		return ""
	}
	return fmt.Sprintf(`%s makes its calls as blocks of text, because %s; calls = "native" in [models.%s] changes that`, info.Model, info.Blocks, info.Profile)
}

// native sends a request with its tools. It reports whether to send it in blocks: the server has refused it because of them.
func (m *Model) native(ctx context.Context, req model.Request, yield func(model.Delta, error) bool) bool {
	answers := false
	for d, err := range m.next.Stream(ctx, req) {
		if e, ok := errors.AsType[*model.Error](err); ok && !answers && refusal.MatchString(e.Body+e.Said) {
			return m.begin(req, refused, yield)
		}
		answers = answers || d.Kind == model.Text || d.Kind == model.Reasoning || d.Kind == model.CallDelta
		if d.Kind == model.Done && d.Message != nil && written.Unused(*d.Message) && m.unused.Add(1) == maxUnused && !m.begin(req, unusable, yield) {
			return false
		}
		if !yield(d, err) || err != nil {
			return false
		}
	}
	return false
}
