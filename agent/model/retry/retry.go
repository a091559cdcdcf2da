// Package retry sends a request again when it failed in a way that may pass.
//
//	m := retry.New(adapter, model.RecoverRetry)
//	for d, err := range m.Stream(ctx, req) {
//		if d.Kind == model.Retry { … } // what the failed attempt said is void
//	}
//
// An attempt may fail in the middle of its answer: the deltas before a [model.Retry]
// belong to it, so readers discard them and must not have acted on its calls.
package retry

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"buddy/agent/model"
)

// A provider that is overloaded is given a minute to recover: waits of 0.5, 1.5, 4.5, 13.5
// and 40.5 s, and up to a quarter more by chance, are 76 s at most.
const (
	attempts  = 6 // in all
	fewer     = 3 // of what seldom passes, see tries
	restarts  = 5 // of a server on this machine that does not listen: 20 to 25 s
	replaced  = 2 // where another model waits to answer
	firstWait = 500 * time.Millisecond
	growth    = 3
	maxOwn    = 90 * time.Second // of our own waits for one request together
	maxAsked  = 5 * time.Minute  // of a wait that a server asks for; a person is told of a longer one
	maxBefore = 10 * time.Second // of that wait where another model waits to answer
)

// Model is a model.Model that tries again. Make it with New or BeforeFallback.
type Model struct {
	next     model.Model
	recovery model.Recovery
	second   model.Model // answers what is [model.Error.Replaceable]; nil: nobody does
}

// New returns next with retries. recovery decides what follows when an answer stalls.
func New(next model.Model, recovery model.Recovery) *Model {
	return &Model{next: next, recovery: recovery}
}

// BeforeFallback is New for a model that has a fallback: where second can answer, next is tried twice.
func BeforeFallback(next, second model.Model, recovery model.Recovery) *Model {
	return &Model{next: next, recovery: recovery, second: second}
}

// Info describes the model behind it.
func (m *Model) Info() model.Info { return m.next.Info() }

// Stream sends req up to six times, twice before a fallback. Before each wait it yields a [model.Retry], whose Now
// ends the wait, and after it a [model.Alive]; cancelling ctx ends it with an error. An answer that stalled gives a
// [model.Stalled] first. Only errors that are a retryable [model.Error] are tried again.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		own, replaceable := time.Duration(0), m.second != nil && m.second.Info().Fits(req)
		for n := 1; ; n++ {
			err, left := m.attempt(ctx, req, yield)
			if err == nil || left {
				return
			}
			e, ok := errors.AsType[*model.Error](err)
			if !ok || !e.Retryable() || ctx.Err() != nil {
				yield(model.Delta{}, err)
				return
			}
			wait := e.RetryAfter
			if wait <= 0 {
				wait = delay(n)
				own += wait
			}
			tries, longest := limits(e, replaceable)
			if n >= tries || wait > longest || own > maxOwn {
				yield(model.Delta{}, givenUp(e, n, wait))
				return
			}
			if !pause(ctx, wait, model.RetryNotice{Attempt: n, Of: tries, Fault: e}, yield) || !yield(model.Delta{Kind: model.Alive}, nil) {
				return
			}
		}
	}
}

// givenUp returns the error to end with after n attempts; wait would have come before the next one.
func givenUp(e *model.Error, n int, wait time.Duration) error {
	last := *e
	last.Tries, last.Err, last.Hint = n, e, cmp.Or(e.Hint, "try again later, or choose another model with /model")
	if wait > maxAsked {
		last.Hint = model.Back(wait) + "; /model chooses another model"
	}
	return &last
}

// attempt passes on the deltas of one request. left means that the reader has left.
func (m *Model) attempt(ctx context.Context, req model.Request, yield func(model.Delta, error) bool) (failed error, left bool) {
	for d, err := range m.next.Stream(ctx, req) {
		var e *model.Error
		switch {
		case errors.As(err, &e) && e.Kind == model.StallError:
			stalled := *e
			stalled.Recovery = m.recovery
			return &stalled, !yield(model.Delta{Kind: model.Stalled, Stall: &model.StallNotice{TimeoutMS: e.Silence.Milliseconds()}}, nil)
		case err != nil:
			return err, false
		case !yield(d, nil):
			return nil, true
		}
	}
	return nil, false
}

// limits returns how often a request is sent that fails in a way, and how long at most it waits in between: not
// often where another model can answer, or where the person has most likely to change something, so that they
// read soon what it is.
func limits(e *model.Error, replaceable bool) (tries int, longest time.Duration) {
	switch {
	case replaceable && e.Replaceable():
		return replaced, maxBefore
	case errors.Is(e, syscall.ECONNREFUSED) && e.Loopback():
		return restarts, maxAsked
	case e.Kind == model.FormatError, e.Kind == model.EmptyError, errors.Is(e, syscall.ECONNREFUSED):
		return fewer, maxAsked
	}
	return attempts, maxAsked
}

// delay is our own wait after attempt n in whole milliseconds. Up to a quarter is added by
// chance, so that many who failed together do not come back together.
func delay(n int) time.Duration {
	wait := firstWait
	for range n - 1 {
		wait *= growth
	}
	return (wait + rand.N(wait/4+1)).Truncate(time.Millisecond)
}

// pause yields the notice and waits. It reports whether to go on: the reader has not left,
// and ctx has not ended, which it yields the cause of.
func pause(ctx context.Context, wait time.Duration, notice model.RetryNotice, yield func(model.Delta, error) bool) bool {
	now := make(chan struct{})
	notice.WaitMS, notice.Now = wait.Milliseconds(), sync.OnceFunc(func() { close(now) })
	if !yield(model.Delta{Kind: model.Retry, Retry: &notice}, nil) {
		return false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-now:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		yield(model.Delta{}, context.Cause(ctx))
		return false
	}
	return true
}
