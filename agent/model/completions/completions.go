// Package completions speaks OpenAI's Chat Completions, with the many servers that
// understand it in their own way: it sends [model.Message] as it is, and reads answers
// leniently into deltas.
//
//	m, err := completions.New(completions.Config{
//		Endpoint: endpoint.Config{Profile: "local", BaseURL: "http://localhost:11434/v1"},
//		Model:    "qwen3",
//	})
//	for d, err := range m.Stream(ctx, model.Request{Messages: msgs}) { … }
//
// go-openai supplies the request and the transport of events. Its types drop what they
// do not know, so messages and events are encoded and decoded here (DESIGN, "Model").
package completions

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
)

// Name is the value of the api key in the configuration.
const Name = "completions"

// grace is the longest wait for what may follow the finish reason: usage and [DONE].
const grace = 5 * time.Second

// Config says which model to talk to and where.
type Config struct {
	Profile   string // the name under [models]
	BaseURL   string // http or https; a trailing slash does not matter; required
	Key       string // empty: none is sent
	KeySource string // where Key came from, such as "env OPENAI_API_KEY"; for hints
	Model     string // the provider's name of the model; empty: Profile
	Window    int    // context window in tokens; 0 = unknown
	// Timeout is the longest wait for the beginning of an answer and for its next
	// bytes; 0 = 120 s, at least 1 s (C12).
	Timeout    time.Duration
	HTTPClient *http.Client // nil: one of its own. Redirects are never followed.
}

// Model is a model.Model. Make it with New. It is safe for concurrent use.
type Model struct {
	info     model.Info
	key      string
	endpoint *endpoint.Endpoint
	noUsage  atomic.Bool // the server refuses stream_options
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
	info := model.Info{Profile: c.Profile, Model: name, API: Name, BaseURL: e.Shown(), Window: c.Window}
	return &Model{info: info, key: c.Key, endpoint: e}, nil
}

// Info describes the model. Its BaseURL has no credentials.
func (m *Model) Info() model.Info { return m.info }

// errLeft means that the reader of the deltas has had enough.
var errLeft = errors.New("left")

// Stream sends one request. Errors are [model.Error] or the cause of the cancelled ctx.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		emit := func(d model.Delta) error {
			if !yield(d, nil) {
				return errLeft
			}
			return nil
		}
		err := m.stream(ctx, req, emit)
		if m.refusesUsage(err) {
			err = m.stream(ctx, req, emit)
		}
		if err != nil && !errors.Is(err, errLeft) {
			yield(model.Delta{}, err)
		}
	}
}

// refusesUsage reports whether a request failed since the server does not know
// stream_options, and remembers it.
func (m *Model) refusesUsage(err error) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.StatusError || (e.Status != 400 && e.Status != 422) {
		return false
	}
	return strings.Contains(e.Body, "stream_options") && m.noUsage.CompareAndSwap(false, true)
}

// stream is one request and its answer.
func (m *Model) stream(ctx context.Context, req model.Request, emit func(model.Delta) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	call := m.endpoint.Call(ctx)
	defer call.Close()
	events, err := m.open(call, req)
	if err != nil {
		return err
	}
	a := &answer{emit: emit}
	for {
		event, err := events.RecvRaw()
		switch {
		case errors.Is(err, io.EOF):
			if err := a.check(call.Finished()); err != nil {
				return call.Explain(err)
			}
			return a.done()
		case err != nil && a.finish != "" && ctx.Err() == nil && !reportedError(err):
			return a.done() // only the end of the connection went wrong
		case err != nil:
			return call.Explain(err)
		}
		if err := a.take(event); err != nil {
			if errors.Is(err, errLeft) {
				return err
			}
			return call.Explain(err)
		}
		if a.finish != "" {
			call.Expect(grace)
		}
	}
}

func reportedError(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Kind == model.ReportedError
}

// open sends the request and returns when the answer begins.
func (m *Model) open(call *endpoint.Call, req model.Request) (*openai.ChatCompletionStream, error) {
	messages, err := encode(req.Messages)
	if err != nil {
		return nil, call.Refused(err, false)
	}
	config := openai.DefaultConfig(m.key)
	config.BaseURL = m.endpoint.BaseURL()
	config.HTTPClient = sender{call, messages}
	r := openai.ChatCompletionRequest{Model: m.info.Model, Tools: tools(req.Tools)}
	if !m.noUsage.Load() {
		r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	events, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(call.Context(), r)
	var known *model.Error
	switch {
	case err == nil:
		return events, nil
	case errors.As(err, &known), call.Context().Err() != nil:
		return nil, call.Explain(err)
	}
	return nil, call.Refused(err, errors.Is(err, openai.ErrReasoningToolsRequireResponses))
}
