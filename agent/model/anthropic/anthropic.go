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
// Requests and answers are encoded here, over [endpoint] and [sse]. The provider's SDK
// (1.84) would add 12.7 MB to a program of 20.9 MB and leave the same work to do: its
// types drop what they do not know.
package anthropic

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/sse"
)

// Name is the value of the api key in the configuration.
const Name = "anthropic"

// DefaultMaxTokens is the limit of one answer that a request asks for, since the protocol
// wants one. Every model since Claude 3.5 can write as much; a higher one is refused by
// models that cannot.
const DefaultMaxTokens = 8192

// version is the protocol's, sent with every request (M05).
const version = "2023-06-01"

// grace is the longest wait for what follows the stop reason.
const grace = 5 * time.Second

// Config says which model to talk to and where.
type Config struct {
	Profile   string // the name under [models]
	BaseURL   string // http or https, without /messages; required
	Key       string // empty: none is sent
	KeySource string // where Key came from, such as "env ANTHROPIC_API_KEY"; for hints
	Model     string // the provider's name of the model; empty: Profile
	Window    int    // context window in tokens; 0 = unknown
	MaxTokens int    // limit of one answer in tokens; 0 = DefaultMaxTokens
	// Timeout is the longest wait for the beginning of an answer and for its next
	// bytes; 0 = 120 s, at least 1 s (C12).
	Timeout    time.Duration
	HTTPClient *http.Client // nil: one of its own. Redirects are never followed.
}

// Model is a model.Model. Make it with New. It is safe for concurrent use.
type Model struct {
	info      model.Info
	maxTokens int
	header    http.Header
	endpoint  *endpoint.Endpoint
}

// New checks c without any I/O. Its errors name the key of the configuration.
func New(c Config) (*Model, error) {
	e, err := endpoint.New(endpoint.Config{
		Profile: c.Profile, API: Name, BaseURL: c.BaseURL, Key: c.Key, KeySource: c.KeySource,
		Timeout: c.Timeout, Client: c.HTTPClient,
	})
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(c.Model)
	if name == "" {
		name = c.Profile
	}
	if name == "" {
		return nil, errors.New("model is empty: the provider's name of a model is required")
	}
	m := &Model{
		info:      model.Info{Profile: c.Profile, Model: name, API: Name, BaseURL: e.Shown(), Window: c.Window},
		maxTokens: c.MaxTokens,
		header:    http.Header{"Anthropic-Version": {version}},
		endpoint:  e,
	}
	if m.maxTokens <= 0 {
		m.maxTokens = DefaultMaxTokens
	}
	if c.Key != "" {
		m.header.Set("X-Api-Key", c.Key)
	}
	return m, nil
}

// Info describes the model. Its BaseURL has no credentials.
func (m *Model) Info() model.Info { return m.info }

// errLeft means that the reader of the deltas has had enough.
var errLeft = errors.New("left")

// Stream sends one request. Errors are [model.Error] or the cause of the cancelled ctx.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		err := m.stream(ctx, req, func(d model.Delta) error {
			if !yield(d, nil) {
				return errLeft
			}
			return nil
		})
		if err != nil && !errors.Is(err, errLeft) {
			yield(model.Delta{}, err)
		}
	}
}

// stream is one request and its answer.
func (m *Model) stream(ctx context.Context, req model.Request, emit func(model.Delta) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	call := m.endpoint.Call(ctx)
	defer call.Close()
	body, err := m.encode(req)
	if err != nil {
		return call.Refused(err, false)
	}
	events, err := call.Post("/messages", m.header, body)
	if err != nil {
		return err // explained already
	}
	a := &answer{model: m.info.Model, emit: emit}
	err = read(call, events, a)
	switch {
	case err == nil, errors.Is(err, errLeft):
		return err
	case a.finish != "" && ctx.Err() == nil && !refused(err):
		return a.done() // only the end of the connection went wrong
	}
	return call.Explain(err)
}

// read takes events until the answer is whole.
func read(call *endpoint.Call, events *sse.Reader, a *answer) error {
	for {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			if err := a.check(call.Finished()); err != nil {
				return err
			}
			return a.done()
		}
		if err != nil {
			return err
		}
		if err := a.take(event); err != nil {
			return err
		}
		if a.over {
			events.Finish()
			return a.done()
		}
		if a.finish != "" {
			call.Expect(grace)
		}
	}
}

// refused reports whether an answer is void although its stop reason came.
func refused(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Kind == model.ReportedError
}
