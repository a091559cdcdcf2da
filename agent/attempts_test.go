package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// TestWhatFailedAttemptsSaidIsKept: if no attempt succeeds, the text of the longest one is kept.
func TestWhatFailedAttemptsSaidIsKept(t *testing.T) {
	retry := model.Delta{Kind: model.Retry, Retry: &model.RetryNotice{Attempt: 1, Fault: &model.Error{What: "reset"}}}
	text := func(s string) model.Delta { return model.Delta{Kind: model.Text, Text: s} }
	breaks := func(deltas ...model.Delta) step {
		return func(_ context.Context, yield func(model.Delta, error) bool) {
			for _, d := range deltas {
				if !yield(d, nil) {
					return
				}
			}
			yield(model.Delta{}, errors.New("connection refused"))
		}
	}
	waits := func(ctx context.Context, yield func(model.Delta, error) bool) {
		if yield(text("one two "), nil) && yield(retry, nil) {
			<-ctx.Done()
			yield(model.Delta{}, ctx.Err())
		}
	}
	recovers := func(ctx context.Context, yield func(model.Delta, error) bool) {
		if yield(text("one two "), nil) && yield(retry, nil) {
			says("all")(ctx, yield)
		}
	}
	for _, tt := range []struct {
		name string
		step step
		want []string // the next request
	}{
		{"the last attempt said nothing", breaks(text("one two "), retry, retry), []string{"user:go", "assistant:one two ", "user:next"}},
		{"the last attempt said less", breaks(text("one two "), retry, text("one ")), []string{"user:go", "assistant:one two ", "user:next"}},
		{"the last attempt said more", breaks(text("one "), retry, text("one two ")), []string{"user:go", "assistant:one two ", "user:next"}},
		{"interrupted before the next attempt", waits, []string{"user:go", "assistant:one two ", "user:next"}},
		{"the last attempt was whole", recovers, []string{"user:go", "assistant:all", "user:next"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil, tt.step, says("ok"))
				s.do(event.Submit{Text: "go"})
				s.do(event.Cancel{})
				s.do(event.Submit{Text: "next"})
				expect(t, saidTexts(s.model.requests[1].Messages), tt.want...)
				s.stop()
			})
		})
	}
	t.Run("a crash before the next attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := func(ctx context.Context, yield func(model.Delta, error) bool) {
				for _, d := range []model.Delta{text("one two "), retry, retry} {
					time.Sleep(1100 * time.Millisecond)
					if !yield(d, nil) {
						return
					}
				}
				<-ctx.Done()
				yield(model.Delta{}, ctx.Err())
			}
			s := start(t, func(o *Options) { o.Replay = crash(t, slow) }, says("fine"))
			s.do(event.Continue{})
			expect(t, saidTexts(s.model.requests[0].Messages), "user:go", "assistant:one two ", "user:"+brokeOff)
			s.stop()
		})
	})
}

// TestPromptLargerThanTheWindowIsNotTaken: it would be in every later request, so none could be sent.
func TestPromptLargerThanTheWindowIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("ok"))
		s.do(event.Submit{Text: strings.Repeat("x ", 2000)})
		if e, n := find[event.Error](s); n != 1 || e.Code != event.BadCommand || !strings.Contains(e.Text, "about 1000 tokens") || !strings.Contains(e.Text, "name the file with @") {
			t.Errorf("%d errors, %+v", n, e)
		}
		s.do(event.Submit{Text: "next"})
		expect(t, saidTexts(s.model.requests[0].Messages), "user:next")
		s.stop()
	})
}
