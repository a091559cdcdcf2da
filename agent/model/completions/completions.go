// Package completions is a client of OpenAI's Chat Completions protocol, and of the many servers that imitate it with
// small differences.
//
//	m, err := completions.New(completions.Config{
//		Profile: "local", BaseURL: "http://localhost:11434/v1", Model: "qwen3",
//	})
//	for d, err := range m.Stream(ctx, model.Request{Messages: msgs}) { … }
//
// go-openai builds and checks the requests. Its types drop unknown fields, so the package encodes messages and
// decodes events itself.
package completions

import (
	"errors"
	"slices"

	openai "github.com/sashabaranov/go-openai"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/wire"
)

// Name is the value of the setting "api" that selects this protocol.
const Name = "completions"

// maxCallID limits the id of a tool call, in bytes: "maximum length 40" at OpenAI.
const maxCallID = 40

// Config holds the model and its address.
type Config = wire.Config

// adapter implements this protocol. It is safe for concurrent use.
type adapter struct {
	client *wire.Client
}

// New returns a model for c. It does no I/O. Its errors name the setting that is wrong.
func New(c Config) (*wire.Model, error) {
	client, err := wire.New(c, Name)
	if err != nil {
		return nil, err
	}
	m := &adapter{client: client}
	return client.Model(wire.Protocol{Open: m.open, Answer: m.answer, Opaque: m.opaque}), nil
}

func (m *adapter) answer(emit wire.Emit, _ model.Request) wire.Answer {
	return &answer{Collector: wire.Collector{Emit: emit}, origin: m.client.Origin()}
}

// opaque reports whether an answer has fields outside the protocol to send back.
func (m *adapter) opaque(msg model.Message) bool {
	origin := m.client.Origin()
	return len(own(msg.Extra, origin)) > 0 || slices.ContainsFunc(msg.ToolCalls, func(c model.ToolCall) bool { return len(own(c.Extra, origin)) > 0 })
}

// open sends the request and returns when the answer starts.
func (m *adapter) open(call *endpoint.Call, req model.Request, with *wire.Remedied) error {
	if err := m.client.CheckImages(req.Messages); err != nil {
		return err
	}
	e := encoder{
		origin: m.client.Origin(), with: with, unsigned: m.client.WantsSignatures(),
		callID: func(id string) string { return m.client.CallID(id, maxCallID) },
		marked: marks(req, m.client.Provider(), m.client.Info().Model),
	}
	if len(e.marked) > 0 && with.With(wire.NoCacheMarks) {
		e.marked = nil
	}
	messages, err := e.encode(req.Messages)
	if err != nil {
		return err
	}
	config := openai.DefaultConfig(m.client.Key())
	config.BaseURL = m.client.BaseURL()
	extra := m.client.Extra(len(req.Tools) > 0, with)
	effort := wire.Text(extra["reasoning_effort"]) // the SDK checks it
	delete(extra, "reasoning_effort")
	config.HTTPClient = wire.Sender{Call: call, Key: "messages", Value: messages, Extra: m.client.WithSampling(extra, with)}
	r := openai.ChatCompletionRequest{Model: m.client.Info().Model, Tools: tools(req.Tools), ReasoningEffort: effort}
	if !with.With(wire.NoStreamOptions) {
		r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	// The SDK's event reader is not used, because it copies each event (BenchmarkMillion).
	_, err = openai.NewClientWithConfig(config).CreateChatCompletionStream(call.Context(), r)
	if errors.Is(err, openai.ErrReasoningToolsRequireResponses) {
		return call.Refused(err, true)
	}
	return err
}
