// Package stall ends an answer that has stopped in the middle (C03), and says in the error
// what is to follow, which [buddy/agent/model/retry] and [buddy/agent/model/fallback] do:
//
//	m := retry.New(stall.New(adapter, stall.Limit, model.RecoverRetry))
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
	next     model.Model
	limit    time.Duration
	recovery model.Recovery
}

// New returns next, whose answers may pause for at most limit. recovery is what the errors
// of those that pause longer ask for (C04).
func New(next model.Model, limit time.Duration, recovery model.Recovery) *Model {
	return &Model{next, limit, recovery}
}

// Info describes the model behind it.
func (m *Model) Info() model.Info { return m.next.Info() }

// Stream passes on the answer. When nothing comes for the limit after a delta it
// cancels the request, yields a [model.Stalled] and ends with a [model.Error] of kind
// StallError. The time that the reader takes for a delta does not count.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		watched, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		timer := time.AfterFunc(m.limit, func() { cancel(errStalled) })
		timer.Stop() // until the answer begins
		defer timer.Stop()
		whole := false
		for d, err := range m.next.Stream(watched, req) {
			timer.Stop()
			if err != nil && stalled(watched) {
				break
			}
			if err != nil {
				yield(model.Delta{}, err)
				return
			}
			if !yield(d, nil) {
				return
			}
			if d.Kind == model.Done {
				whole = true
				continue
			}
			timer.Reset(m.limit)
		}
		if whole || !stalled(watched) {
			return
		}
		if yield(model.Delta{Kind: model.Stalled, Stall: &model.StallNotice{TimeoutMS: m.limit.Milliseconds()}}, nil) {
			yield(model.Delta{}, m.failed())
		}
	}
}

func stalled(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errStalled) }

func (m *Model) failed() error {
	return &model.Error{
		Kind: model.StallError, Endpoint: m.Info().BaseURL, Recovery: m.recovery,
		What: fmt.Sprintf("the answer stalled: nothing came for %v", m.limit), Err: errStalled,
	}
}
