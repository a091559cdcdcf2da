package fallback_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/fallback"
	"buddy/agent/model/retry"
)

// fake yields its name, then ends with a fault, hangs, or completes.
type fake struct {
	info  model.Info
	fault error
	hangs bool
	calls int
}

func (f *fake) Info() model.Info { return f.info }

func (f *fake) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		f.calls++
		if !yield(model.Delta{Kind: model.Text, Text: f.info.Profile + " "}, nil) {
			return
		}
		if f.hangs {
			select {
			case <-ctx.Done():
				yield(model.Delta{}, context.Cause(ctx))
			case <-time.After(time.Minute):
				yield(model.Delta{}, &model.Error{Kind: model.StallError, What: "stream stalled", Silence: time.Minute})
			}
			return
		}
		if f.fault != nil {
			yield(model.Delta{}, f.fault)
			return
		}
		yield(model.Delta{Kind: model.Done, Message: &model.Message{}}, nil)
	}
}

func named(name string, window int) model.Info {
	return model.Info{Profile: name, Model: name + "-1", Window: window}
}

func status(code int) error {
	return &model.Error{Kind: model.StatusError, Status: code, What: "status"}
}

func asks(wait time.Duration) error {
	return &model.Error{Kind: model.StatusError, Status: 429, What: "status", RetryAfter: wait}
}

// collect returns the texts and notices that a reader gets, in order.
func collect(t *testing.T, m model.Model, req model.Request) (string, error) {
	t.Helper()
	var out strings.Builder
	for d, err := range m.Stream(t.Context(), req) {
		if err != nil {
			return out.String(), err
		}
		switch d.Kind {
		case model.Text:
			out.WriteString(d.Text)
		case model.Stalled:
			out.WriteString("stalled ")
		case model.Retry:
			out.WriteString("retry ")
		case model.Fallback:
			if d.Fallback.Detail == "" || d.Fallback.Model == nil {
				t.Errorf("a fallback without its error or its model: %+v", d.Fallback)
			}
			out.WriteString(d.Fallback.From.Profile + "→" + d.Fallback.To.Profile + " (" + d.Fallback.Why + ") ")
		case model.Done:
			out.WriteString("done")
		}
	}
	return out.String(), nil
}

// TestWhenTheSecondModelIsAsked: the second model is asked after two attempts that met an overload or a stall, and
// never for a prompt larger than its window. Such a prompt gets all attempts at the first model.
func TestWhenTheSecondModelIsAsked(t *testing.T) {
	tests := []struct {
		name     string
		first    fake
		recovery model.Recovery
		tokens   int
		want     string
		err      string // part of it
	}{
		{"no fault", fake{}, "", 0, "a done", ""},
		{"429 that asks to wait 10 s", fake{fault: asks(10 * time.Second)}, "", 0, "a retry a a→b (Model overloaded) b done", ""},
		{"429 that asks to wait longer", fake{fault: asks(11 * time.Second)}, "", 0, "a a→b (Model overloaded) b done", ""},
		{"429 that asks to wait longer, too long", fake{fault: asks(11 * time.Second)}, "", 951, "a retry a retry a retry a retry a retry a ", "the fallback b was not asked"},
		{"429", fake{fault: status(429)}, "", 0, "a retry a a→b (Model overloaded) b done", ""},
		{"503", fake{fault: status(503)}, "", 0, "a retry a a→b (Model overloaded) b done", ""},
		{"529", fake{fault: status(529)}, "", 0, "a retry a a→b (Model overloaded) b done", ""},
		{"500 is no overload", fake{fault: status(500)}, "", 0, "a retry a retry a retry a retry a retry a ", "status (tried 6 times)"},
		{"401 is no overload", fake{fault: status(401)}, "", 0, "a ", "status"},
		{"another error", fake{fault: errors.New("plain")}, "", 0, "a ", "plain"},
		{"stall, retry", fake{hangs: true}, model.RecoverRetry, 0, "a stalled retry a stalled a→b (Stream stalled) b done", ""},
		{"stall, fallback", fake{hangs: true}, model.RecoverFallback, 0, "a stalled a→b (Stream stalled) b done", ""},
		{"stall, abort", fake{hangs: true}, model.RecoverAbort, 0, "a stalled ", "stream stalled"},
		{"fits just so", fake{fault: status(429)}, "", 950, "a retry a a→b (Model overloaded) b done", ""},
		{"too long", fake{fault: status(429)}, "", 951, "a retry a retry a retry a retry a retry a ", "the fallback b was not asked, because the prompt of about 951 tokens does not fit into its window of 1000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, second := tt.first, fake{info: named("b", 1000)}
				first.info = named("a", 5000)
				m := fallback.New(retry.BeforeFallback(&first, &second, tt.recovery), retry.New(&second, ""))
				got, err := collect(t, m, model.Request{Tokens: tt.tokens})
				if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%q, %v\nwant %q, %q", got, err, tt.want, tt.err)
				}
				if m.Info() != first.info {
					t.Errorf("Info() = %+v", m.Info())
				}
				var e *model.Error
				if tt.err != "" && tt.err != "plain" && !errors.As(err, &e) {
					t.Errorf("%v hides the error of the adapter", err)
				}
			})
		})
	}
}

// When both fail, the error names both and wraps the second's.
func TestBothFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := fake{info: named("a", 0), fault: status(529)}, fake{info: named("b", 0), fault: status(401)}
		got, err := collect(t, fallback.New(&first, &second), model.Request{Tokens: 1 << 30}) // every request fits an unknown window
		var e *model.Error
		if got != "a a→b (Model overloaded) b " || !errors.As(err, &e) || e.Status != 401 || !strings.Contains(err.Error(), "(the fallback, after: status)") {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// Neither a cancelled request nor one whose reader stopped goes to the second model.
func TestNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		first, second := fake{hangs: true}, fake{}
		var failed error
		for _, err := range fallback.New(&first, &second).Stream(ctx, model.Request{}) {
			failed = err
		}
		if !errors.Is(failed, context.Canceled) || second.calls != 0 {
			t.Errorf("%v after %d requests to the fallback", failed, second.calls)
		}
		for _, at := range []model.DeltaKind{model.Text, model.Fallback} {
			first, second := fake{fault: status(429)}, fake{}
			for d := range fallback.New(&first, &second).Stream(t.Context(), model.Request{}) {
				if d.Kind == at {
					break
				}
			}
			if second.calls != 0 {
				t.Errorf("left at %d, and the fallback was asked", at)
			}
		}
	})
}
