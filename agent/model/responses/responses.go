// Package responses is a client of OpenAI's Responses protocol. Unlike Chat Completions, it sends reasoning models
// the reasoning that led to their earlier tool calls.
//
//	m, err := responses.New(responses.Config{
//		Profile: "work", BaseURL: "https://api.openai.com/v1", Key: key, Model: "gpt-5",
//	})
//	for d, err := range m.Stream(ctx, model.Request{Messages: msgs}) { … }
//
// The server stores nothing: every request has the whole conversation. Data that [model.Message] has no field for,
// such as encrypted reasoning, is kept in its field Extra with its position, and is sent again at that position.
//
// go-openai builds and checks the requests. The package encodes the input and decodes events itself.
package responses

import (
	"encoding/json"
	"fmt"
	"slices"

	openai "github.com/sashabaranov/go-openai"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/wire"
)

// Name is the value of the setting "api" that selects this protocol.
const Name = "responses"

// maxCallID limits the id of a tool call, in bytes: "maximum length 64" at OpenAI.
const maxCallID = 64

// Config holds the model and its address.
type Config = wire.Config

// adapter implements this protocol. It is safe for concurrent use.
type adapter struct {
	client *wire.Client
	free   bool // the model supports tools whose calls are free text
}

// New returns a model for c. It does no I/O. Its errors name the setting that is wrong.
func New(c Config) (*wire.Model, error) {
	client, err := wire.New(c, Name)
	if err != nil {
		return nil, err
	}
	m := &adapter{client, c.Free}
	return client.Model(wire.Protocol{Open: m.open, Answer: m.answer, Opaque: m.opaque}), nil
}

func (m *adapter) answer(emit wire.Emit, req model.Request) wire.Answer {
	return newAnswer(emit, m.client.Origin(), req.Tools)
}

// opaque reports whether an answer has items that must be sent back unchanged.
func (m *adapter) opaque(msg model.Message) bool {
	in := &input{client: m.client}
	return slices.ContainsFunc(in.places(msg), func(p place) bool { return p.Item != nil })
}

// open sends the request and returns when the answer starts.
func (m *adapter) open(call *endpoint.Call, req model.Request, with *wire.Remedied) error {
	if err := m.client.CheckImages(req.Messages); err != nil {
		return err
	}
	free := m.free && slices.ContainsFunc(req.Tools, func(d model.ToolDef) bool { return d.Free != nil }) && !with.With(wire.NoFreeText)
	instructions, input, err := encode(req.Messages, m.client, free)
	if err != nil {
		return err
	}
	config := openai.DefaultConfig(m.client.Key())
	config.BaseURL = m.client.BaseURL()
	extra, err := tools(req.Tools, free)
	if err != nil {
		return err
	}
	if n := m.client.Compacts(with); n > 0 { // developers.openai.com/api/docs/guides/compaction
		if extra == nil {
			extra = wire.Members{}
		}
		extra["context_management"] = json.RawMessage(fmt.Sprintf(`[{"type":"compaction","compact_threshold":%d}]`, n))
	}
	config.HTTPClient = wire.Sender{Call: call, Key: "input", Value: input, Extra: m.client.WithSampling(extra, with)}
	r := openai.CreateResponseRequest{Model: m.client.Info().Model, Instructions: instructions}
	switch m.client.Provider() {
	case wire.Ollama, wire.LMStudio, wire.VLLM, wire.LlamaCPP: // they store nothing, and some refuse the field
	default:
		if !with.With(wire.NoStore) {
			r.Store = new(bool) // the default is true
		}
	}
	if !with.With(wire.NoInclude) {
		r.Include = []openai.ResponseInclude{openai.ResponseIncludeReasoningEncryptedContent}
	}
	r.Reasoning = m.reasoning(with)
	// The SDK's event reader is not used, because it copies each event (BenchmarkMillion).
	_, err = openai.NewClientWithConfig(config).CreateResponseStream(call.Context(), r)
	return err
}

// reasoning returns the effort, and whether to send summaries of the reasoning; nil if neither is set.
func (m *adapter) reasoning(with *wire.Remedied) *openai.ResponseReasoning {
	r := openai.ResponseReasoning{Effort: string(m.client.EffortOf(with))}
	// Only OpenAI sends summaries just on request, and only its reasoning models have any.
	thinks := m.client.Provider() == wire.OpenAI && wire.Reasons(m.client.Info().Model) && r.Effort != "none"
	if thinks && !with.With(wire.NoSummary) {
		r.Summary = "auto"
	}
	if r == (openai.ResponseReasoning{}) {
		return nil
	}
	return &r
}

// tool is a function that the model may call.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	// Strict is sent even if it is false, which the SDK would omit. If it is missing, servers try to make every schema
	// strict, and refuse a schema for which that is impossible.
	Strict bool `json:"strict"`
}

// tools converts tool definitions. If there are none, it returns nil, so that the request has no such key. If free is
// true, tools that support plain text are defined as custom tools.
func tools(defs []model.ToolDef, free bool) (wire.Members, error) {
	if len(defs) == 0 {
		return nil, nil
	}
	var all []any
	for _, d := range defs {
		if free && d.Free != nil {
			all = append(all, customTool{"custom", d.Name, d.Description, format{"grammar", "lark", d.Free.Grammar}})
			continue
		}
		all = append(all, tool{"function", d.Name, d.Description, wire.Parameters(d), false})
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	return wire.Members{"tools": raw}, nil
}
