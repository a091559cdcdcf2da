// Package fallback lets a second model answer a request if the first one is overloaded or stops in the middle of its
// answer, and retries don't help.
//
//	m := fallback.New(retry.BeforeFallback(first, second, recovery), retry.New(second, recovery))
//	for d, err := range m.Stream(ctx, req) {
//		if d.Kind == model.Fallback { … } // the answer of the first model is void
//	}
//
// The switch applies to one request. The [model.Fallback] delta names the second model; send related requests to it
// directly, so that they don't wait for the overloaded model again.
package fallback

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"buddy/agent/model"
)

// Model is a model.Model with a fallback. Create it with New.
type Model struct{ first, second model.Model }

// New returns a model that sends requests to first and, if first fails to answer a request, to second.
func New(first, second model.Model) *Model { return &Model{first, second} }

// Info describes the first model.
func (m *Model) Info() model.Info { return m.first.Info() }

// Stream sends req to the first model. If that fails with an error that is [model.Error.Replaceable], and req fits into
// the window of the second, it yields a [model.Fallback] and continues with the answer of the second.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		failed, stopped := pass(m.first.Stream(ctx, req), yield)
		if failed == nil || stopped {
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

// pass passes on the deltas of an answer until an error, which it returns. stopped means that the reader has stopped.
func pass(answer iter.Seq2[model.Delta, error], yield func(model.Delta, error) bool) (failed error, stopped bool) {
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
