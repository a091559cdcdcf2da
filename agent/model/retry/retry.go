// Package retry sends a request to a model again after a temporary failure.
//
//	m := retry.New(adapter, model.RecoverRetry)
//	for d, err := range m.Stream(ctx, req) {
//		if d.Kind == model.Retry { … } // the failed attempt is void
//	}
//
// An attempt can fail in the middle of an answer. When a [model.Retry] delta arrives, discard all earlier deltas and
// cancel the calls that they started.
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

// Six attempts give an overloaded provider a minute to recover. The waits in between are 0.5, 1.5, 4.5, 13.5 and 40.5
// s, each up to a quarter longer at random: 76 s at most.
const (
	attempts  = 6 // in all
	fewer     = 3 // for failures that rarely disappear, see limits
	restarts  = 5 // for a server on this machine that refuses connections: 20 to 25 s
	replaced  = 2 // if a fallback can answer
	firstWait = 500 * time.Millisecond
	growth    = 3
	maxOwn    = 90 * time.Second // limits the total of our own waits for one request
	maxAsked  = 5 * time.Minute  // limits the wait that a server asks for; if it asks for more, the request fails
	maxBefore = 10 * time.Second // limits the wait that a server asks for if a fallback can answer
)

// Model is a model.Model that sends failed requests again. Create it with New or BeforeFallback.
type Model struct {
	next     model.Model
	recovery model.Recovery
	second   model.Model // answers if the error is [model.Error.Replaceable]; nil: no fallback
}

// New returns a model that sends each request to next, and repeats it after a failure. recovery selects what to do if
// an answer stalls.
func New(next model.Model, recovery model.Recovery) *Model {
	return &Model{next: next, recovery: recovery}
}

// BeforeFallback is like New, for a model that second can replace: a request that second could answer is sent to next
// only twice.
func BeforeFallback(next, second model.Model, recovery model.Recovery) *Model {
	return &Model{next: next, recovery: recovery, second: second}
}

// Info describes the wrapped model.
func (m *Model) Info() model.Info { return m.next.Info() }

// Stream sends req up to six times, or twice if a fallback could answer it. Only a retryable [model.Error] is retried.
// Before each wait, Stream yields a [model.Retry], whose function Now ends the wait early, and after the wait a
// [model.Alive]. If the answer stalled, it yields a [model.Stalled] first. If ctx is cancelled, the wait ends with an
// error.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		own, replaceable := time.Duration(0), m.second != nil && m.second.Info().Fits(req)
		for n := 1; ; n++ {
			err, stopped := m.attempt(ctx, req, yield)
			if err == nil || stopped {
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

// givenUp returns the final error after n attempts. wait is how long the next attempt would have had to wait.
func givenUp(e *model.Error, n int, wait time.Duration) error {
	last := *e
	last.Tries, last.Err, last.Hint = n, e, cmp.Or(e.Hint, "try again later, or choose another model with /model")
	if wait > maxAsked {
		last.Hint = model.Back(wait) + "; /model chooses another model"
	}
	return &last
}

// attempt passes on the deltas of one attempt. stopped means that the reader has stopped.
func (m *Model) attempt(ctx context.Context, req model.Request, yield func(model.Delta, error) bool) (failed error, stopped bool) {
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

// limits returns how often to send a request that fails with this error, and the longest wait in between. If a fallback
// could answer, or the user probably has to change something, there are fewer attempts, so that the error is reported
// soon.
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

// delay returns the wait after attempt n, in whole milliseconds, if the server does not ask for another. It adds up to
// a quarter at random, so that clients that failed together do not retry together.
func delay(n int) time.Duration {
	wait := firstWait
	for range n - 1 {
		wait *= growth
	}
	return (wait + rand.N(wait/4+1)).Truncate(time.Millisecond)
}

// pause yields the notice and waits. It returns false if the reader has stopped, or if ctx has ended, whose cause it
// then yields.
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
