// Package retry sends a request again when it failed in a way that may pass (C07).
//
//	m := retry.New(adapter)
//	for d, err := range m.Stream(ctx, req) {
//		if d.Kind == model.Retry { … } // what the failed attempt said is void
//	}
//
// An attempt may fail in the middle of its answer: the deltas before a [model.Retry]
// belong to it, so readers discard them and must not have acted on its calls.
package retry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"buddy/agent/model"
)

const (
	attempts  = 3 // in all
	firstWait = 250 * time.Millisecond
	maxWait   = 8 * time.Second // before what chance adds
	minAsked  = time.Second     // bounds of what a server may ask for
	maxAsked  = 300 * time.Second
)

// Model is a model.Model that tries again. Make it with New.
type Model struct{ next model.Model }

// New returns next with retries.
func New(next model.Model) *Model { return &Model{next: next} }

// Info describes the model behind it.
func (m *Model) Info() model.Info { return m.next.Info() }

// Stream sends req up to three times. Before each wait it yields a [model.Retry];
// cancelling ctx ends the wait at once. Only errors that are a retryable [model.Error]
// are tried again.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for n := 1; ; n++ {
			err, left := m.attempt(ctx, req, yield)
			if err == nil || left {
				return
			}
			var e *model.Error
			again := errors.As(err, &e) && e.Retryable() && ctx.Err() == nil
			if again && n < attempts {
				d := delay(n, e.RetryAfter)
				notice := model.RetryNotice{Attempt: n, WaitMS: d.Milliseconds(), Why: err.Error()}
				if !yield(model.Delta{Kind: model.Retry, Retry: &notice}, nil) {
					return
				}
				if sleep(ctx, d) {
					continue
				}
				err = context.Cause(ctx)
			} else if again {
				err = fmt.Errorf("%w (tried %d times)", err, n)
			}
			yield(model.Delta{}, err)
			return
		}
	}
}

// attempt passes on the deltas of one request. left means that the reader has left.
func (m *Model) attempt(ctx context.Context, req model.Request, yield func(model.Delta, error) bool) (failed error, left bool) {
	for d, err := range m.next.Stream(ctx, req) {
		if err != nil {
			return err, false
		}
		if !yield(d, nil) {
			return nil, true
		}
	}
	return nil, false
}

// delay is the wait after attempt n in whole milliseconds. What the server asked for wins;
// else up to a quarter is added by chance, so that many who failed together do not come
// back together (C08).
func delay(n int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(max(asked, minAsked), maxAsked)
	}
	wait := min(firstWait<<(n-1), maxWait)
	return (wait + rand.N(wait/4+1)).Truncate(time.Millisecond)
}

// sleep waits for d and reports whether it passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
