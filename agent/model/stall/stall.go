// Package stall ends an answer that has stopped in the middle (C03), with an error that
// [buddy/agent/model/retry] tries again:
//
//	m := retry.New(stall.New(adapter, stall.Limit))
//
// The wait for the beginning of an answer is not its matter: a model may read a long
// prompt for minutes, and the endpoint bounds that.
package stall

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"buddy/agent/model"
)

// Limit is how long an answer that has begun may pause.
const Limit = 30 * time.Second

var errStalled = errors.New("stalled")

// Model is a model.Model with a watch. Make it with New.
type Model struct {
	next  model.Model
	limit time.Duration
}

// New returns next, whose answers may pause for at most limit.
func New(next model.Model, limit time.Duration) *Model { return &Model{next, limit} }

// Info describes the model behind it.
func (m *Model) Info() model.Info { return m.next.Info() }

// Stream passes on the answer. When nothing comes for the limit after a delta it
// cancels the request and ends with a [model.Error] of kind TimeoutError. The time that
// the reader takes for a delta does not count.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		watched, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		timer := time.AfterFunc(m.limit, func() { cancel(errStalled) })
		timer.Stop() // until the answer begins
		defer timer.Stop()
		for d, err := range m.next.Stream(watched, req) {
			timer.Stop()
			if err != nil {
				yield(model.Delta{}, m.explain(watched, err))
				return
			}
			if !yield(d, nil) {
				return
			}
			if d.Kind != model.Done {
				timer.Reset(m.limit)
			}
		}
		if errors.Is(context.Cause(watched), errStalled) { // the adapter ended without a word
			yield(model.Delta{}, m.explain(watched, errStalled))
		}
	}
}

// explain returns err, or what the stall was that led to it.
func (m *Model) explain(ctx context.Context, err error) error {
	if !errors.Is(context.Cause(ctx), errStalled) {
		return err
	}
	return &model.Error{Kind: model.TimeoutError, Endpoint: m.Info().BaseURL, What: fmt.Sprintf("the answer stalled: nothing came for %v", m.limit), Err: errStalled}
}
