package retry_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
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

// TestC07 checks what is tried again, how often, and how long the waits are.
func TestC07(t *testing.T) {
	const ms = time.Millisecond
	plain := errors.New("plain")
	for _, tt := range []struct {
		name  string
		errs  []error
		waits []time.Duration
		fails bool
	}{
		{"no fault", nil, nil, false},
		{"one 500", []error{status(500, 0)}, []time.Duration{250 * ms}, false},
		{"three in all", []error{status(503, 0), status(503, 0), status(503, 0)}, []time.Duration{250 * ms, 500 * ms}, true},
		{"timeout, connect", []error{kind(model.TimeoutError), kind(model.ConnectError)}, []time.Duration{250 * ms, 500 * ms}, false},
		{"cut, format", []error{kind(model.CutError), kind(model.FormatError)}, []time.Duration{250 * ms, 500 * ms}, false},
		{"408", []error{status(408, 0)}, []time.Duration{250 * ms}, false},
		{"400 fails at once", []error{status(400, 0)}, nil, true},
		{"401 fails at once", []error{status(401, time.Second)}, nil, true},
		{"404 fails at once", []error{status(404, 0)}, nil, true},
		{"setup fails at once", []error{kind(model.SetupError)}, nil, true},
		{"other errors fail at once", []error{plain}, nil, true},
		{"Retry-After wins", []error{status(429, 7*time.Second)}, []time.Duration{7 * time.Second}, false},
		{"Retry-After at least 1 s", []error{status(429, 10*ms)}, []time.Duration{time.Second}, false},
		{"Retry-After at most 300 s", []error{status(429, time.Hour)}, []time.Duration{300 * time.Second}, false},
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
				within := func(got, base time.Duration) bool { // up to a quarter more by chance, unless the server asked
					return got >= base && got <= base+base/4 && (got == base || tt.errs[0].(*model.Error).RetryAfter == 0)
				}
				if !slices.EqualFunc(waits, tt.waits, within) || time.Since(began) != total {
					t.Errorf("waits = %v in %v, want %v", waits, time.Since(began), tt.waits)
				}
				if (last != nil) != tt.fails || done == tt.fails || f.calls != min(len(tt.waits)+1, 3) {
					t.Errorf("error = %v, done = %v after %d requests", last, done, f.calls)
				}
				if tt.fails && !errors.Is(last, tt.errs[f.calls-1]) {
					t.Errorf("error = %v, want the last fault in it", last)
				}
			})
		})
	}
}

// run reads a whole stream.
func run(t *testing.T, f *fake) (waits []time.Duration, done bool, last error) {
	for d, err := range retry.New(f).Stream(t.Context(), model.Request{}) {
		last = err
		switch d.Kind {
		case model.Retry:
			waits = append(waits, time.Duration(d.Retry.WaitMS)*time.Millisecond)
			if d.Retry.Attempt != len(waits) || d.Retry.Why == "" {
				t.Errorf("notice %d = %+v", len(waits), *d.Retry)
			}
		case model.Done:
			done = true
		}
	}
	if f.calls == 3 && last != nil && !strings.Contains(last.Error(), "tried 3 times") {
		t.Errorf("error = %v", last)
	}
	return waits, done, last
}

// TestC07CancelEndsTheWait checks that nobody sits out a wait of minutes.
func TestC07CancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("the person said stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		f := &fake{errs: []error{status(429, 300*time.Second)}}
		began := time.Now()
		var last error
		for d, err := range retry.New(f).Stream(ctx, model.Request{}) {
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

// TestReaderLeaves checks that leaving the loop at any delta ends everything.
func TestReaderLeaves(t *testing.T) {
	for _, at := range []model.DeltaKind{model.Text, model.Retry, model.Done} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{errs: []error{status(500, 0)}}
			for d, err := range retry.New(f).Stream(t.Context(), model.Request{}) {
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
