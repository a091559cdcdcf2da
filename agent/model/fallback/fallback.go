// Package fallback lets a second model answer what the first can't: when it
// is overloaded, or its answer stalled, and the retries are used up.
//
//	m := fallback.New(retry.BeforeFallback(first, second, recovery), retry.New(second, recovery))
//	for d, err := range m.Stream(ctx, req) {
//		if d.Kind == model.Fallback { … } // what the first model said is void
//	}
//
// The switch holds for one request. Who sends others that belong to it asks the Model of the
// notice, so that each of them need not find out that the first one is overloaded.
package fallback

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"buddy/agent/model"
)

// Model is a model.Model with another one behind it. Make it with New.
type Model struct{ first, second model.Model }

// New returns first, with second for the requests that it has no capacity for.
func New(first, second model.Model) *Model { return &Model{first, second} }

// Info describes the first model.
func (m *Model) Info() model.Info { return m.first.Info() }

// Stream sends req to the first model. If that fails with an error that is
// [model.Error.Replaceable], and req fits into the window of the second, it yields a
// [model.Fallback] and goes on with the answer of the second.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		failed, left := pass(m.first.Stream(ctx, req), yield)
		if failed == nil || left {
			return
		}
		e, ok := errors.AsType[*model.Error](failed)
		if !ok || !e.Replaceable() || ctx.Err() != nil {
			yield(model.Delta{}, failed)
			return
		}
		cause, _, raw := model.Tell(failed)
		notice := model.FallbackNotice{From: m.first.Info(), To: m.second.Info(), Why: e.Replaced(), Detail: cause, Raw: raw, Model: m.second}
		if !notice.To.Fits(req) {
			yield(model.Delta{}, fmt.Errorf("%w; the fallback %s was not asked, because the prompt of about %d tokens does not fit into its window of %d",
				failed, notice.To.Profile, req.Tokens, notice.To.Window))
			return
		}
		if !yield(model.Delta{Kind: model.Fallback, Fallback: &notice}, nil) {
			return
		}
		if second, _ := pass(m.second.Stream(ctx, req), yield); second != nil {
			yield(model.Delta{}, fmt.Errorf("%w (the fallback, after: %w)", second, failed))
		}
	}
}

// pass hands on an answer up to its error. left means that the reader has left.
func pass(answer iter.Seq2[model.Delta, error], yield func(model.Delta, error) bool) (failed error, left bool) {
	for d, err := range answer {
		if err != nil {
			return err, false
		}
		if !yield(d, nil) {
			return nil, true
		}
	}
	return nil, false
}
