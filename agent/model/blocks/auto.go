package blocks

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"buddy/agent/model"
	"buddy/agent/model/written"
)

// remedy is the name under which a session stores that a model needs blocks.
const remedy = "blocks"

// Reasons for blocks, for display.
const (
	refused  = "its server refused a request that offered tools"
	unusable = "two of its answers had unusable calls in their text"
	learnt   = "that was needed earlier in this session"
)

// refusal matches servers' messages that tools are not supported: Ollama "… does not support tools", vLLM "\"auto\"
// tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", OpenRouter "No endpoints found that
// support tool use", llama.cpp "tools param requires --jinja flag".
var refusal = regexp.MustCompile(`(?i)support (tool|function)s?\b|tool choice requires|tools? param\w* requires|(tools?|tool[_ ]calls?|function calling)["'\x60]? (is|are) not (supported|enabled|available)`)

// maxUnused is the number of answers whose text contains calls in an unusable form after which the model is switched to
// blocks.
const maxUnused = 2

// learnt reports whether the session has stored that the model needs blocks.
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

// switchToBlocks makes the model use blocks, and yields a Healed with the reason. It returns false if the caller of
// Stream has stopped reading.
func (m *Model) switchToBlocks(req model.Request, why string, yield func(model.Delta, error) bool) bool {
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

// Line returns a line that says why the model uses blocks and how to change that, or "" if it does not use them.
func Line(info model.Info) string {
	if info.Blocks == "" {
		return ""
	}
	return fmt.Sprintf(`%s makes its calls as blocks of text, because %s; calls = "native" in [models.%s] changes that`, info.Model, info.Blocks, info.Profile)
}

// native sends a request with its tools. It returns true if the server refused the tools: then the caller must send the
// request again with blocks.
func (m *Model) native(ctx context.Context, req model.Request, yield func(model.Delta, error) bool) bool {
	answers := false
	for d, err := range m.next.Stream(ctx, req) {
		if e, ok := errors.AsType[*model.Error](err); ok && !answers && refusal.MatchString(e.Body+e.Said) {
			return m.switchToBlocks(req, refused, yield)
		}
		answers = answers || d.Kind == model.Text || d.Kind == model.Reasoning || d.Kind == model.CallDelta
		if d.Kind == model.Done && d.Message != nil && written.Unused(*d.Message) && m.unused.Add(1) == maxUnused && !m.switchToBlocks(req, unusable, yield) {
			return false
		}
		if !yield(d, err) || err != nil {
			return false
		}
	}
	return false
}
