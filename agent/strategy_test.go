package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/reminder"
	"buddy/agent/settings"
)

// The strategy window counts messages and tokens although the model's window is unknown, and again and again.
func TestWindowStrategyOfAnUnknownWindow(t *testing.T) {
	for name, o := range map[string]settings.Context{
		"messages": {Strategy: settings.Window, KeepMessages: 2},
		"tokens":   {Strategy: settings.Window, KeepMessages: 1000, KeepTokens: 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, func(to *Options) { to.Context = o }, answers(12)...)
				for i := range 10 {
					s.do(prompt(i, 100))
					if n := len(s.request()); n > 7 {
						t.Errorf("request %d has %d messages", i, n)
					}
				}
				if c, n := find[event.ContextCompacted](s); n < 3 || c.By != "window" {
					t.Errorf("%d compactions, the last %+v", n, c)
				}
				s.stop()
			})
		})
	}
}

// A conversation that cannot become as short as the strategy wants is sent anyway: it is compacted once before a request,
// although what the model is told again after a compaction is removed by the next one.
func TestStrategyCompactsOnceBeforeARequest(t *testing.T) {
	for name, o := range map[string]settings.Context{
		"messages": {Strategy: settings.Window, KeepMessages: 1},
		"tokens":   {Strategy: settings.Window, KeepTokens: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, func(to *Options) {
					to.Context, to.Reminders = o, reminder.NewSet(nil, reminder.Own()...)
				}, answers(6)...)
				for i := range 6 {
					s.do(prompt(i, 100))
					if f, _ := find[event.TaskFinished](s); f.Outcome != event.Completed {
						t.Errorf("prompt %d: %+v", i, f)
					}
				}
				if c, n := find[event.ContextCompacted](s); n == 0 || n > 6 {
					t.Errorf("%d compactions, the last %+v", n, c)
				}
				s.stop()
			})
		})
	}
}

// ownStrategy compacts above a number of messages.
type ownStrategy struct {
	above int
	kept  ContextKept
	err   error
	calls int
}

func (o *ownStrategy) ShouldCompact(now ContextState) bool { return len(now.Messages) > o.above }

func (o *ownStrategy) Compact(context.Context, ContextState) (ContextKept, error) {
	o.calls++
	return o.kept, o.err
}

// A program's own strategy decides when and how the conversation is compacted; its compactions survive a resume.
func TestOwnStrategy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := &ownStrategy{above: 6, kept: ContextKept{Messages: 2, Summary: "what was"}}
		s := start(t, func(o *Options) { o.Strategy = own }, answers(8)...)
		for i := range 5 {
			s.do(prompt(i, 20))
		}
		c, n := find[event.ContextCompacted](s)
		if n == 0 || c.By != "strategy" || !strings.HasSuffix(c.Summary, "what was") {
			t.Errorf("%d compactions, the last %+v", n, c)
		}
		before := s.Messages()
		s.stop()
		again := start(t, func(o *Options) { o.Replay = s.mem.events }, says("ok"))
		if got := again.Messages(); len(got) != len(before) || got[1].Content != before[1].Content {
			t.Errorf("resumed with %d messages, before %d", len(got), len(before))
		}
		again.stop()
	})
}

// A failing strategy is reported and given up after three errors; the requests are sent anyway.
func TestOwnStrategyFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := &ownStrategy{err: errors.New("no idea")}
		s := start(t, func(o *Options) { o.Strategy = own }, answers(8)...)
		for i := range 5 {
			s.do(prompt(i, 20))
		}
		w, n := find[event.Warning](s)
		if own.calls != 3 || n != 3 || w.Text != "the context strategy failed: no idea" {
			t.Errorf("%d calls, %d warnings, the last %+v", own.calls, n, w)
		}
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.Completed {
			t.Errorf("finished %+v", done)
		}
		s.stop()
	})
}
