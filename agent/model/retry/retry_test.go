package retry_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/retry"
)

// fake fails with each of errs in turn, after a piece of text, then answers.
type fake struct {
	errs  []error
	calls int
}

func (f *fake) Info() model.Info { return model.Info{Model: "fake"} }

func (f *fake) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		f.calls++
		if !yield(model.Delta{Kind: model.Text, Text: "a"}, nil) {
			return
		}
		if f.calls <= len(f.errs) {
			yield(model.Delta{}, f.errs[f.calls-1])
			return
		}
		yield(model.Delta{Kind: model.Done, Message: &model.Message{}}, nil)
	}
}

func status(code int, after time.Duration) *model.Error {
	return &model.Error{Kind: model.StatusError, Status: code, What: "status", RetryAfter: after}
}

func kind(k model.ErrorKind) *model.Error { return &model.Error{Kind: k, What: "fault"} }

func refusedAt(endpoint string) *model.Error {
	return &model.Error{Kind: model.ConnectError, Endpoint: endpoint, What: "refused", Err: syscall.ECONNREFUSED}
}

// TestRetries checks which errors are retried, how often, and how long the waits are.
func TestRetries(t *testing.T) {
	const ms = time.Millisecond
	own := []time.Duration{500 * ms, 1500 * ms, 4500 * ms, 13500 * ms, 40500 * ms} // 90 s at most with the random part
	plain := errors.New("plain")
	many := func(err error) []error { return slices.Repeat([]error{err}, 6) }
	for _, tt := range []struct {
		name  string
		errs  []error
		waits []time.Duration
		fails string // in the error; "" = no error
	}{
		{"no fault", nil, nil, ""},
		{"one 500", []error{status(500, 0)}, own[:1], ""},
		{"overloaded three times", many(status(529, 0))[:3], own[:3], ""},
		{"six in all", many(status(503, 0)), own, "tried 6 times"},
		{"timeout, connect", []error{kind(model.TimeoutError), kind(model.ConnectError)}, own[:2], ""},
		{"cut, format", []error{kind(model.CutError), kind(model.FormatError)}, own[:2], ""},
		{"408", []error{status(408, 0)}, own[:1], ""},
		{"400 fails at once", []error{status(400, 0)}, nil, "status"},
		{"401 fails at once", []error{status(401, time.Second)}, nil, "status"},
		{"404 fails at once", []error{status(404, 0)}, nil, "status"},
		{"setup fails at once", []error{kind(model.SetupError)}, nil, "fault"},
		{"a slow server nearby fails at once", []error{kind(model.SlowError)}, nil, "fault"},
		{"other errors fail at once", []error{plain}, nil, "plain"},
		{"a web page fails soon", many(kind(model.FormatError)), own[:2], "tried 3 times"},
		{"an empty response fails soon", many(kind(model.EmptyError)), own[:2], "tried 3 times"},
		{"nobody listens fails soon", many(&model.Error{Kind: model.ConnectError, What: "refused", Err: syscall.ECONNREFUSED}), own[:2], "tried 3 times"},
		{"a server on this machine restarts", many(refusedAt("http://127.0.0.1:8080/v1"))[:4], own[:4], ""},
		{"it does not come back", many(refusedAt("http://localhost:8080/v1")), own[:4], "tried 5 times"},
		{"one of the network", many(refusedAt("http://192.168.0.7:8080/v1")), own[:2], "tried 3 times"},
		{"what the server asks for wins", []error{status(429, 7*time.Second)}, []time.Duration{7 * time.Second}, ""},
		{"also when it is short", []error{status(429, 120*ms)}, []time.Duration{120 * ms}, ""},
		{"up to 5 minutes, each time", many(status(429, 5*time.Minute)), slices.Repeat([]time.Duration{5 * time.Minute}, 5), "tried 6 times"},
		{"longer is said at once", []error{status(429, 2*time.Hour)}, nil, "status; requests are accepted again at "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{errs: tt.errs}
				began := time.Now()
				waits, done, last := run(t, f)
				var total time.Duration
				for _, w := range waits {
					total += w
				}
				within := func(got, base time.Duration) bool { // up to a quarter more at random, unless the server asked
					return got >= base && got <= base+base/4 && (got == base || tt.errs[0].(*model.Error).RetryAfter == 0)
				}
				if !slices.EqualFunc(waits, tt.waits, within) || time.Since(began) != total {
					t.Errorf("waits = %v in %v, want %v", waits, time.Since(began), tt.waits)
				}
				if (last != nil) != (tt.fails != "") || done == (last != nil) || f.calls != len(tt.waits)+1 {
					t.Errorf("error = %v, done = %v after %d requests", last, done, f.calls)
				}
				if last != nil && (!errors.Is(last, tt.errs[f.calls-1]) || !strings.Contains(last.Error(), tt.fails)) {
					t.Errorf("error = %v, want %q and the last fault in it", last, tt.fails)
				}
			})
		})
	}
}

// TestNowEndsTheWait: Now ends the wait, however often and late it is called.
func TestNowEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{errs: []error{status(429, 300*time.Second)}}
		began := time.Now()
		var now func()
		var last error
		for d, err := range retry.New(f, "").Stream(t.Context(), model.Request{}) {
			if last = err; d.Kind == model.Retry {
				now = d.Retry.Now
				time.AfterFunc(time.Second, now)
			}
		}
		now()
		if last != nil || time.Since(began) != time.Second || f.calls != 2 {
			t.Errorf("error = %v after %v and %d requests", last, time.Since(began), f.calls)
		}
	})
}

// TestStall: a stalled answer yields Stalled, and recovery selects what follows.
func TestStall(t *testing.T) {
	for _, tt := range []struct {
		recovery    model.Recovery
		retries     int
		replaceable bool
	}{{"", 5, true}, {model.RecoverRetry, 5, true}, {model.RecoverFallback, 0, true}, {model.RecoverAbort, 0, false}} {
		synctest.Test(t, func(t *testing.T) {
			stalled := &model.Error{Kind: model.StallError, What: "stalled", Silence: 2 * time.Minute}
			stalls, retries, last := 0, 0, error(nil)
			for d, err := range retry.New(&fake{errs: slices.Repeat([]error{stalled}, 6)}, tt.recovery).Stream(t.Context(), model.Request{}) {
				switch last = err; d.Kind {
				case model.Retry:
					retries++
				case model.Stalled:
					stalls++
					if d.Stall.TimeoutMS != 120_000 {
						t.Errorf("%+v", d.Stall)
					}
				}
			}
			e, ok := errors.AsType[*model.Error](last)
			if !ok || retries != tt.retries || stalls != retries+1 || e.Replaceable() != tt.replaceable {
				t.Errorf("%q: %d stalls, %d retries, %v", tt.recovery, stalls, retries, last)
			}
		})
	}
}

// run reads a whole stream.
func run(t *testing.T, f *fake) (waits []time.Duration, done bool, last error) {
	for d, err := range retry.New(f, "").Stream(t.Context(), model.Request{}) {
		last = err
		switch d.Kind {
		case model.Retry:
			waits = append(waits, time.Duration(d.Retry.WaitMS)*time.Millisecond)
			if d.Retry.Attempt != len(waits) || d.Retry.Fault == nil || d.Retry.Of < d.Retry.Attempt {
				t.Errorf("notice %d = %+v", len(waits), *d.Retry)
			}
		case model.Done:
			done = true
		}
	}
	return waits, done, last
}

// TestCancelEndsTheWait: cancelling ends a wait of minutes.
func TestCancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("the person said stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		f := &fake{errs: []error{status(429, 300*time.Second)}}
		began := time.Now()
		var last error
		for d, err := range retry.New(f, "").Stream(ctx, model.Request{}) {
			last = err
			if d.Kind == model.Retry {
				time.AfterFunc(time.Second, func() { cancel(why) })
			}
		}
		if !errors.Is(last, why) || time.Since(began) != time.Second || f.calls != 1 {
			t.Errorf("error = %v after %v and %d requests", last, time.Since(began), f.calls)
		}
	})
}

// TestReaderLeaves: leaving the loop at any delta ends everything.
func TestReaderLeaves(t *testing.T) {
	for _, at := range []model.DeltaKind{model.Text, model.Retry, model.Done} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{errs: []error{status(500, 0)}}
			for d, err := range retry.New(f, "").Stream(t.Context(), model.Request{}) {
				if err != nil {
					t.Error(err)
				}
				if d.Kind == at {
					break
				}
			}
			if want := map[model.DeltaKind]int{model.Text: 1, model.Retry: 1, model.Done: 2}[at]; f.calls != want {
				t.Errorf("left at %d: %d requests, want %d", at, f.calls, want)
			}
		})
	}
}
