// Package responses speaks OpenAI's Responses: the newer protocol, in which reasoning
// models are given back what they thought before they called a tool.
//
//	m, err := responses.New(responses.Config{
//		Profile: "work", BaseURL: "https://api.openai.com/v1", Key: key, Model: "gpt-5",
//	})
//	for d, err := range m.Stream(ctx, model.Request{Messages: msgs}) { … }
//
// Nothing is stored at the server: every request carries the whole conversation. What
// the protocol knows and [model.Message] does not, such as encrypted reasoning, is kept
// in Message.Extra as one note, and sent again in its place.
//
// go-openai supplies the request and judges it; input and events are encoded and decoded
// here.
package responses

import (
	"encoding/json"
	"fmt"
	"sync/atomic"

	openai "github.com/sashabaranov/go-openai"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/wire"
)

// Name is the value of the api key in the configuration.
const Name = "responses"

// maxCallID limits the id of a tool call, in bytes: "maximum length 64" at OpenAI.
const maxCallID = 64

// Config says which model to talk to and where.
type Config = wire.Config

// adapter asks a server in this protocol. It is safe for concurrent use.
type adapter struct {
	client    *wire.Client
	noInclude atomic.Bool // the server or its model refuses encrypted reasoning
	noSummary atomic.Bool // … a summary of the reasoning
	noStore   atomic.Bool // … to be told that it stores nothing, as it never does
	noFree    atomic.Bool // … tools whose calls are free text, or nobody knows that it takes them
}

// New checks c without any I/O. Its errors name the key of the configuration.
func New(c Config) (*wire.Model, error) {
	client, err := wire.New(c, Name)
	if err != nil {
		return nil, err
	}
	m := &adapter{client: client}
	// Only OpenAI needs to be asked for summaries, and only models that think have any.
	// Servers nearby store nothing and some refuse to be told.
	switch client.Provider() {
	case wire.Ollama, wire.LMStudio, wire.VLLM, wire.LlamaCPP:
		m.noStore.Store(true)
	}
	m.noFree.Store(!c.Free)
	m.noSummary.Store(client.Provider() != wire.OpenAI || !wire.Reasons(client.Info().Model))
	return client.Model(wire.Protocol{Open: m.open, Answer: m.answer, Without: m.without}), nil
}

func (m *adapter) answer(emit wire.Emit, req model.Request) wire.Answer {
	return newAnswer(emit, m.client.Origin(), req.Tools)
}

// without reports whether a request failed for something that we can do without, and
// remembers what: each at most once.
func (m *adapter) without(err error) bool {
	return wire.Refuses(err, "'custom'", `"custom"`, "custom_tool", "custom tool", "grammar") && m.noFree.CompareAndSwap(false, true) ||
		wire.Refuses(err, "reasoning.summary", "reasoning summar", `"reasoning"`) && m.noSummary.CompareAndSwap(false, true) ||
		wire.Refuses(err, `"store"`, "'store'") && m.noStore.CompareAndSwap(false, true) ||
		wire.Refuses(err, `"include"`, "include[", "Encrypted content is not supported") && m.noInclude.CompareAndSwap(false, true)
}

// open sends the request and returns when the answer begins.
func (m *adapter) open(call *endpoint.Call, req model.Request) error {
	if err := m.client.CheckImages(req.Messages); err != nil {
		return err
	}
	free := !m.noFree.Load()
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
	config.HTTPClient = wire.Sender{Call: call, Key: "input", Value: input, Extra: m.client.WithSampling(extra)}
	r := openai.CreateResponseRequest{Model: m.client.Info().Model, Instructions: instructions}
	if !m.noStore.Load() { // the default is true
		r.Store = new(bool)
	}
	if !m.noInclude.Load() {
		r.Include = []openai.ResponseInclude{openai.ResponseIncludeReasoningEncryptedContent}
	}
	r.Reasoning = m.reasoning()
	// The SDK's reader of events is left aside: it copies each (BenchmarkMillion).
	_, err = openai.NewClientWithConfig(config).CreateResponseStream(call.Context(), r)
	return err
}

// reasoning says how much to think and what to show of it; nil when nothing is to be said.
func (m *adapter) reasoning() *openai.ResponseReasoning {
	r := openai.ResponseReasoning{Effort: string(m.client.Effort())}
	if !m.noSummary.Load() && r.Effort != "none" {
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
	// Strict is sent although it is false, which the SDK does not: left out, servers try to
	// make every schema a strict one, and refuse those that cannot be.
	Strict bool `json:"strict"`
}

// tools returns nil when there are none, so that the request has no such key. free says that
// those which have such a form are called with free text.
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
