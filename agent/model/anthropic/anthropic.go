// Package anthropic is a client of Anthropic's Messages protocol, which other providers offer, too.
//
//	m, err := anthropic.New(anthropic.Config{
//		Profile: "claude", BaseURL: "https://api.anthropic.com/v1", Key: key,
//		Model:   "claude-sonnet-4-5",
//	})
//	for d, err := range m.Stream(ctx, model.Request{Messages: msgs}) { … }
//
// Content blocks that [model.Message] has no field for, such as thinking, are kept unchanged in its field Extra, and
// are sent back to the same model at the same position.
//
// The package does not use the provider's SDK (1.84), which would add 12.7 MB to a program of 20.9 MB, and whose
// types drop unknown fields.
package anthropic

import (
	"net/http"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/wire"
)

// Name is the value of the setting "api" that selects this protocol.
const Name = "anthropic"

// DefaultMaxTokens limits an answer, in tokens, if nothing is configured, because the protocol requires a limit. Models
// refuse a limit above their maximum, but every model since Claude 3.5 can write this much.
const DefaultMaxTokens = 8192

// version is the protocol version, sent with every request.
const version = "2023-06-01"

// Config holds the model and its address. An empty Effort means no thinking.
type Config = wire.Config

// adapter implements this protocol. It is safe for concurrent use.
type adapter struct {
	client    *wire.Client
	maxTokens int
	header    http.Header
	adaptive  bool // the model decides how long it thinks
}

// New returns a model for c. It does no I/O. Its errors name the setting that is wrong.
func New(c Config) (*wire.Model, error) {
	m, err := newAdapter(c)
	if err != nil {
		return nil, err
	}
	return m.client.Model(wire.Protocol{Open: m.open, Answer: m.answer, Opaque: m.opaque, AnyOrder: true}), nil
}

func newAdapter(c Config) (*adapter, error) {
	client, err := wire.New(c, Name)
	if err != nil {
		return nil, err
	}
	m := &adapter{client: client, header: http.Header{"Anthropic-Version": {version}}, adaptive: adaptive(client.Info().Model)}
	if err := m.limits(c); err != nil {
		return nil, err
	}
	if c.Key != "" {
		m.header.Set("X-Api-Key", c.Key)
	}
	return m, nil
}

func (m *adapter) answer(emit wire.Emit, _ model.Request) wire.Answer {
	return &answer{Collector: wire.Collector{Emit: emit}, model: m.client.Info().Model}
}

// opaque reports whether an answer has blocks that must be sent back unchanged.
func (m *adapter) opaque(msg model.Message) bool { return len(keptIn(msg, m.client.Info().Model)) > 0 }

// open sends the request and returns when the answer starts.
func (m *adapter) open(call *endpoint.Call, req model.Request, with *wire.Remedied) error {
	body, err := m.encode(req, with)
	if err != nil {
		return err
	}
	header := m.header
	if m.client.Compacts(with) > 0 {
		header = header.Clone()
		header.Set("Anthropic-Beta", compactionBeta)
	}
	return call.Post("/messages", header, body)
}
