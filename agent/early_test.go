package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
)

// effect is a call with side effects that takes some seconds.
func effect(id string, seconds string) string {
	return id + ` do {"kind":"shell","do":"sleep","seconds":` + seconds + `}`
}

// A call with side effects that needs no approval starts when its block is complete and nothing else runs; the answer up
// to it is stored first, and its result as soon as it is there. Every call is announced with its block.
func TestSideEffectsStartWhileTheAnswerStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := func(m model.Message, yield func(model.Delta, error) bool) {
			for range 6 {
				time.Sleep(time.Second)
				yield(model.Delta{Kind: model.Text, Text: "… "}, nil)
				m.Content += "… "
			}
			whole(m, yield)
		}
		s := start(t, func(o *Options) { o.Mode = action.ModeAll }, streams(pause, effect("c1", "2"), effect("c2", "1"), safe("c3", 1)), says("ok"))
		s.do(event.Submit{Text: "go"})
		time.Sleep(time.Minute)
		synctest.Wait()
		if e, n := find[event.Error](s); n > 0 {
			t.Errorf("error %+v", e)
		}
		expect(t, s.trace(), "0 start c1", "2 result c1", "2 start c2", "3 result c2", "3 start c3", "4 result c3", "9 message", "9 message")
		expect(t, s.results(), "done c1", "done c2", "done c3")
		order := strings.Join(s.types("turn.started"), " ")
		if !strings.Contains(order, "model.checkpoint tool.queued model.prefix tool.requested decision.explained tool.started") {
			t.Errorf("order %s", order)
		}
		if _, n := find[event.ToolQueued](s); n != 3 {
			t.Errorf("%d calls queued", n)
		}
		replayed(t, s)
	})
}

// replayed stops a session and checks that a process that resumes it has the same history.
func replayed(t *testing.T, s *session) {
	t.Helper()
	s.stop()
	again := start(t, func(o *Options) { o.Replay = s.mem.events }, says("ok"))
	expect(t, saidTexts(again.Messages()), saidTexts(s.Messages())...)
	for i, m := range again.Messages() {
		if got, want := len(m.ToolCalls), len(s.Messages()[i].ToolCalls); got != want {
			t.Errorf("message %d has %d calls, live %d", i, got, want)
		}
	}
	again.stop()
}

// Approvals open with the whole answer, also for a call after one that runs early.
func TestApprovalsOpenWithTheWholeAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, streams(whole, safe("c1", 1), effect("c2", "1"), safe("c3", 1)), says("ok"))
		s.do(event.Submit{Text: "go"})
		time.Sleep(2500 * time.Millisecond)
		s.do()
		if _, n := find[event.ApprovalAsked](s); n != 0 {
			t.Error("it asks while the answer streams")
		}
		time.Sleep(time.Second)
		s.do()
		asked, n := find[event.ApprovalAsked](s)
		if n != 1 || asked.CallID != "c2" {
			t.Fatalf("%d approvals, %+v", n, asked)
		}
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		time.Sleep(time.Minute)
		s.do()
		expect(t, s.trace(), "0 start c1", "1 result c1", "3 message", "3 start c2", "4 result c2", "4 start c3", "5 result c3", "5 message")
		replayed(t, s)
	})
}

// What ran stays recorded if the answer is filtered, cut off or broken later, and it never runs again.
func TestWhatRanStaysRecorded(t *testing.T) {
	finish := func(reason string) func(model.Message, func(model.Delta, error) bool) {
		return func(m model.Message, yield func(model.Delta, error) bool) {
			yield(model.Delta{Kind: model.Done, Message: &m, Finish: reason}, nil)
		}
	}
	for name, tt := range map[string]struct {
		end     func(model.Message, func(model.Delta, error) bool)
		outcome event.Outcome
	}{
		"filtered": {finish(model.FinishContentFilter), event.Failed},
		"cut off":  {finish(model.FinishLength), event.Completed},
		"broken": {func(_ model.Message, yield func(model.Delta, error) bool) {
			yield(model.Delta{}, &model.Error{Kind: model.CutError, What: "cut"})
		}, event.Completed},
		"refused": {func(_ model.Message, yield func(model.Delta, error) bool) {
			yield(model.Delta{}, &model.Error{Kind: model.StatusError, Status: 400, What: "no"})
		}, event.Failed},
		"not in the whole answer": {func(m model.Message, yield func(model.Delta, error) bool) {
			m.ToolCalls = nil
			whole(m, yield)
		}, event.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, func(o *Options) {
					recovering(nil, "")(o)
					o.Mode = action.ModeAll
				}, streams(tt.end, effect("c1", "30"), effect("c2", "1")), says("ok"), says("ok"))
				s.do(event.Submit{Text: "go"})
				time.Sleep(10 * time.Minute)
				s.do()
				if f, n := find[event.TaskFinished](s); n != 1 || f.Outcome != tt.outcome {
					t.Fatalf("%d finished, %+v, want %s", n, f, tt.outcome)
				}
				s.do(event.Submit{Text: "next"})
				expect(t, s.results(), "done c1")
				expect(t, s.tool.ran, "c1")
				replayed(t, s)
			})
		})
	}
}

// A crash while an early call runs: its outcome is looked up once, and the exchange continues with it.
func TestCrashWhileAnEarlyCallRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := streams(func(model.Message, func(model.Delta, error) bool) { time.Sleep(time.Hour) }, effect("c1", "3600"))
		all := start(t, func(o *Options) { o.Mode = action.ModeAll }, long)
		all.do(event.Submit{Text: "go"})
		time.Sleep(5 * time.Second)
		all.do()
		stored := append([]event.Envelope(nil), all.mem.events...)
		all.do(event.Cancel{})
		time.Sleep(2 * time.Hour)
		all.stop()
		s := start(t, func(o *Options) { o.Replay = stored }, says("fine"), says("fine"))
		s.do(event.Continue{})
		if got := s.results(); len(got) != 1 || !strings.HasPrefix(got[0], "recovered from ") {
			t.Errorf("results %q", got)
		}
		if msgs := s.Messages(); len(msgs) < 4 || msgs[len(msgs)-1].Content != "fine" || len(msgs[len(msgs)-3].ToolCalls) != 1 {
			t.Errorf("history %+v", msgs)
		}
		s.stop()
		again := start(t, func(o *Options) { o.Replay = append(stored, s.mem.events...) }, says("ok"))
		expect(t, saidTexts(again.Messages()), saidTexts(s.Messages())...)
		again.stop()
	})
}

// With hooks of a program, calls with side effects wait for the whole answer: the hooks see the answer first.
func TestHooksKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			o.Mode = action.ModeAll
			o.Hooks = []turn.Hook{func(context.Context, turn.Moment) (turn.Reply, error) { return turn.Continue, nil }}
		}, streams(whole, effect("c1", "1")), says("ok"))
		s.do(event.Submit{Text: "go"})
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, s.trace(), "1 message", "1 start c1", "2 result c1", "2 message")
		s.stop()
	})
}
