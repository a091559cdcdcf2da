// Package renew lets a model authenticate with a key that changes, such as the token of a login. It asks for the
// current key before every request, and asks again if the server refuses it.
//
//	m, err := renew.New(renew.Config{
//		Key:   func(ctx context.Context, refused string) (string, error) { return client.Token(ctx, login, refused) },
//		Build: func(key string) (model.Model, error) { return completions.New(completions.Config{Access: endpoint.Access{Key: key}, …}) },
//	})
package renew

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync"

	"buddy/agent/model"
)

// Config holds the functions that get the key and use it.
type Config struct {
	// Key returns the key to send. refused is the key that the server has refused, or "".
	Key func(ctx context.Context, refused string) (string, error)
	// Build returns a model client that authenticates with a key. It does no I/O.
	Build func(key string) (model.Model, error)
	Hint  string // what to do when there is no key, or only a refused one
}

// Model is a model.Model. Create it with New. It is safe for concurrent use.
type Model struct {
	config Config
	info   model.Info

	mu  sync.Mutex // guards the fields below
	key string
	now model.Model // built with key
}

// New returns a model. To check the configuration, it calls Build once, without a key.
func New(c Config) (*Model, error) {
	m, err := c.Build("")
	if err != nil {
		return nil, err
	}
	info := m.Info()
	info.Auth = "a login"
	return &Model{config: c, info: info, now: m}, nil
}

// Info describes the model.
func (m *Model) Info() model.Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	info := m.info
	info.TextOnly = m.now.Info().TextOnly // it may have been learnt from a refusal
	return info
}

// Stream sends req. If the server refuses the key, Stream asks for another key and sends req once more.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		refused := ""
		for {
			next, key, err := m.with(ctx, refused)
			if err != nil {
				yield(model.Delta{}, err)
				return
			}
			again := false
			for d, err := range next.Stream(ctx, req) {
				if refusal(err) && refused == "" {
					again, refused = true, key
					break
				}
				if refusal(err) {
					err = m.hinted(err)
				}
				if !yield(d, err) {
					return
				}
			}
			if !again {
				return
			}
		}
	}
}

// with returns a model client that authenticates with the current key, and that key.
func (m *Model) with(ctx context.Context, refused string) (model.Model, string, error) {
	key, err := m.config.Key(ctx, refused)
	if err != nil {
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		return nil, "", &model.Error{Kind: model.SetupError, Endpoint: m.info.BaseURL, What: err.Error(), Hint: m.config.Hint, Err: err}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if key != m.key {
		next, err := m.config.Build(key)
		if err != nil {
			return nil, "", &model.Error{Kind: model.SetupError, What: err.Error(), Err: err}
		}
		m.key, m.now = key, next
	}
	return m.now, key, nil
}

func refusal(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Kind == model.StatusError && e.Status == http.StatusUnauthorized
}

func (m *Model) hinted(err error) error {
	e, _ := errors.AsType[*model.Error](err)
	withHint := *e
	withHint.What, withHint.Hint = "The login was refused (401)", m.config.Hint
	return &withHint
}
