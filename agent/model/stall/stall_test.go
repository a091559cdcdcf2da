package stall_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/retry"
	"buddy/agent/model/stall"
)

// slow waits before each delta, and ends with Done. It stops when it is cancelled.
type slow struct {
	waits  []time.Duration
	silent bool // ends without an error when it is cancelled
	fault  error
}

func (*slow) Info() model.Info { return model.Info{Model: "slow", BaseURL: "http://host/v1"} }

func (s *slow) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for i, w := range s.waits {
			select {
			case <-time.After(w):
			case <-ctx.Done():
				if !s.silent {
					yield(model.Delta{}, context.Cause(ctx))
				}
				return
			}
			if !yield(model.Delta{Kind: model.Text, Text: fmt.Sprint(i)}, nil) {
				return
			}
		}
		if s.fault != nil {
			yield(model.Delta{}, s.fault)
			return
		}
		yield(model.Delta{Kind: model.Done, Message: &model.Message{}}, nil)
	}
}

func TestC03(t *testing.T) {
	fault := errors.New("fault")
	const s = time.Second
	tests := []struct {
		name   string
		model  slow
		reader time.Duration // what it takes for a delta
		text   string
		stalls bool
		err    error
	}{
		{"steady", slow{waits: []time.Duration{s, 29 * s, 29 * s}}, 0, "012", false, nil},
		{"slow to begin", slow{waits: []time.Duration{300 * s, s}}, 0, "01", false, nil},
		{"slow reader", slow{waits: []time.Duration{s, s}}, time.Hour, "01", false, nil},
		{"stalls", slow{waits: []time.Duration{s, 31 * s}}, 0, "0", true, nil},
		{"stalls in silence", slow{waits: []time.Duration{s, 31 * s}, silent: true}, 0, "0", true, nil},
		{"another fault", slow{waits: []time.Duration{s}, fault: fault}, 0, "0", false, fault},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				text, failed := "", error(nil)
				for d, err := range stall.New(&tt.model, stall.Limit, model.RecoverRetry).Stream(t.Context(), model.Request{}) {
					text += d.Text
					failed = err
					time.Sleep(tt.reader)
				}
				var e *model.Error
				if stalled := errors.As(failed, &e) && e.Kind == model.StallError && e.Retryable(); text != tt.text || stalled != tt.stalls {
					t.Errorf("%q, %v", text, failed)
				}
				if !tt.stalls && !errors.Is(failed, tt.err) {
					t.Errorf("error %v, want %v", failed, tt.err)
				}
			})
		})
	}
}

// A stalled answer is asked for again, a few times (C04).
func TestC04(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := retry.New(stall.New(&slow{waits: []time.Duration{time.Second, time.Hour}}, stall.Limit, model.RecoverRetry))
		retries, failed := 0, error(nil)
		for d, err := range m.Stream(t.Context(), model.Request{}) {
			if d.Kind == model.Retry {
				retries++
			}
			failed = err
		}
		if want := "http://host/v1: the answer stalled: nothing came for 30s (tried 3 times)"; retries != 2 || failed == nil || failed.Error() != want {
			t.Errorf("%d retries, then %v, want %s", retries, failed, want)
		}
	})
}

// A person's cancel is not a stall.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		var failed error
		for _, err := range stall.New(&slow{waits: []time.Duration{time.Second, time.Hour}}, stall.Limit, model.RecoverRetry).Stream(ctx, model.Request{}) {
			failed = err
		}
		if !errors.Is(failed, context.Canceled) {
			t.Errorf("error %v", failed)
		}
	})
}
