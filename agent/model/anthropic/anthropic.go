// Package anthropic speaks Anthropic's Messages, for their own servers and for others
// that understand it: it turns [model.Message] into content blocks and back.
//
//	m, err := anthropic.New(anthropic.Config{
//		Profile: "claude", BaseURL: "https://api.anthropic.com/v1", Key: key,
//		Model:   "claude-sonnet-4-5",
//	})
//	for d, err := range m.Stream(ctx, model.Request{Messages: msgs}) { … }
//
// Blocks that are neither text nor tool calls, thinking above all, are kept as they came
// in [model.Message.Extra], and go back to the same model in the same place (SPEC M14).
//
// Requests and answers are encoded here, over [wire] and [endpoint]. The provider's SDK
// (1.84) would add 12.7 MB to a program of 20.9 MB and leave the same work to do: its
// types drop what they do not know.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"sync/atomic"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/wire"
)

// Name is the value of the api key in the configuration.
const Name = "anthropic"

// DefaultMaxTokens is the limit of one answer that a request asks for, since the protocol
// wants one. Every model since Claude 3.5 can write as much; a higher one is refused by
// models that cannot.
const DefaultMaxTokens = 8192

// version is the protocol's, sent with every request (M05).
const version = "2023-06-01"

// Config says which model to talk to and where. An empty Effort means no thinking.
type Config = wire.Config

// Model is a model.Model. Make it with New. It is safe for concurrent use.
type Model struct {
	client    *wire.Client
	maxTokens int
	header    http.Header
	adaptive  atomic.Bool // the model decides how long it thinks
	corrected atomic.Bool // the server has said so
}

// New checks c without any I/O. Its errors name the key of the configuration.
func New(c Config) (*Model, error) {
	client, err := wire.New(c, Name)
	if err != nil {
		return nil, err
	}
	m := &Model{client: client, header: http.Header{"Anthropic-Version": {version}}}
	if err := m.limits(c); err != nil {
		return nil, err
	}
	m.adaptive.Store(adaptive(client.Info().Model))
	if c.Key != "" {
		m.header.Set("X-Api-Key", c.Key)
	}
	return m, nil
}

// Info describes the model. Its BaseURL has no credentials.
func (m *Model) Info() model.Info { return m.client.Info() }

// Stream sends one request. Errors are [model.Error] or the cause of the cancelled ctx.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	open := func(call *endpoint.Call) error { return m.open(call, req) }
	begin := func(emit wire.Emit) wire.Answer { return &answer{model: m.Info().Model, emit: emit} }
	return wire.Stream(func(emit wire.Emit) error {
		err := m.client.Ask(ctx, emit, open, begin)
		if wire.Refuses(err, "thinking.type", "adaptive", "budget_tokens", "output_config", "effort parameter") && m.client.Effort() != "" && m.corrected.CompareAndSwap(false, true) {
			m.adaptive.Store(!m.adaptive.Load()) // the name of the model has misled us
			err = m.client.Ask(ctx, emit, open, begin)
		}
		return err
	})
}

// open sends the request and returns when the answer begins.
func (m *Model) open(call *endpoint.Call, req model.Request) error {
	body, err := m.encode(req)
	if err != nil {
		return err
	}
	return call.Post("/messages", m.header, body)
}
