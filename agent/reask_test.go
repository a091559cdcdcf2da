package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

const (
	wipes = `c1 do {"kind":"shell","do":"wipe"}`
	also  = `c2 do {"kind":"shell","do":"also"}`
)

// An approval that was open when buddy died is asked again in every mode, and a prompt drops it before anything runs.
func TestOpenApprovalOfACrash(t *testing.T) {
	for _, mode := range []action.Mode{action.ModeAll, action.ModeEdits, action.ModeAsk, action.ModeStrict} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stored := crash(t, says("", wipes, also))
				again := func(steps ...step) *session {
					return start(t, func(o *Options) { o.Replay, o.Mode = stored, mode }, steps...)
				}
				s := again(says("I left it"))
				if _, n := find[event.ApprovalAsked](s); n != 1 || len(s.tool.ran) != 0 {
					t.Fatalf("asked %d times, ran %v", n, s.tool.ran)
				}
				s.do(event.Submit{Text: "no, don't"})
				if len(s.tool.ran) != 0 {
					t.Errorf("ran %v", s.tool.ran)
				}
				if a, n := find[event.ApprovalAnswered](s); n != 1 || a.Decision != event.Deny || a.By != "prompt" {
					t.Errorf("%d answers, the last %+v", n, a)
				}
				expect(t, saidTexts(s.model.requests[0].Messages), "user:go", "assistant:", "tool:"+dropped, "tool:"+notStarted, "user:no, don't")
				s.stop()

				s = again(says("done"))
				asked, _ := find[event.ApprovalAsked](s)
				s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
				expect(t, s.tool.ran, "c1")
				expect(t, s.results(), "done c1", notStarted)
				s.stop()
			})
		})
	}
}

// A prompt that was queued when buddy died does not answer the repeated request.
func TestQueuedPromptDropsNoApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", wipes))
		s.do(event.Submit{Text: "go"}, event.Submit{Text: "and then stop"})
		stored := slices.Clone(s.mem.events)
		s.stop()
		s = start(t, func(o *Options) { o.Replay = stored }, says("ok"))
		asked, n := find[event.ApprovalAsked](s)
		if n != 1 || len(s.model.requests) != 0 {
			t.Fatalf("asked %d times, %d requests", n, len(s.model.requests))
		}
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		expect(t, saidTexts(s.request()), "user:go", "assistant:", "tool:done c1", "user:and then stop")
		s.stop()
	})
}

// If nobody can answer it is denied.
func TestOpenApprovalWithNobodyToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored, tool := crash(t, says("", wipes)), &fakeTool{}
		m := &script{steps: []step{says("I left it")}}
		_, err := New(Options{Model: m, Tools: tools.NewRegistry(tool), Replay: stored, Mode: action.ModeAll}).Continue(t.Context())
		if err != nil || len(tool.ran) != 0 || !strings.Contains(m.requests[0].Messages[2].Content, "nobody was there to ask") {
			t.Errorf("%v: ran %v and sent %v", err, tool.ran, m.requests)
		}
	})
}

// A mode that would allow the call does not answer the request, unless a person sets it.
func TestWhatAnswersAnOpenApprovalOfACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", wipes), says("", `b1 do {"kind":"shell","do":"beside"}`))
		s.do(event.Submit{Text: "go"}, event.Submit{Text: "beside", Background: true})
		stored := slices.Clone(s.mem.events)
		s.stop()
		s = start(t, func(o *Options) { o.Replay, o.Mode = stored, action.ModeAll }, says("ok"), says("ok"))
		if _, n := find[event.ApprovalAsked](s); n != 2 {
			t.Fatalf("asked %d times", n)
		}
		s.do(event.SetMode{Mode: action.ModeAll})
		if len(s.tool.ran) != 2 {
			t.Errorf("ran %v after the mode was set", s.tool.ran)
		}
		s.stop()
	})
}

// A resume does not run calls that had not started: neither those that the mode allowed without asking, nor those
// reported to the model as not run.
func TestNothingStartsOnResume(t *testing.T) {
	all := func(o *Options) { o.Mode = action.ModeAll }
	resume := func(t *testing.T, stored []event.Envelope, want ...string) {
		t.Helper()
		s := start(t, func(o *Options) { all(o); o.Replay = stored }, says("I see"))
		s.do(event.Continue{})
		if len(s.tool.ran) != 0 {
			t.Errorf("ran %v", s.tool.ran)
		}
		expect(t, s.results(), want...)
		s.stop()
	}
	t.Run("behind a call that ran", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, all, says("", `c1 do {"kind":"shell","do":"hang"}`, also))
			s.do(event.Submit{Text: "go"})
			stored := slices.Clone(s.mem.events)
			s.stop()
			resume(t, stored, "recovered from /out/000001", notStarted)
		})
	})
	for _, at := range []string{"tool.requested", "tool.started"} {
		t.Run("could not be recorded at "+at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, all, nil, says("never"))
				s.model.steps[0] = func(ctx context.Context, yield func(model.Delta, error) bool) {
					s.mem.mu.Lock()
					s.mem.full = at
					s.mem.mu.Unlock()
					says("", wipes)(ctx, yield)
				}
				s.do(event.Submit{Text: "go"})
				if r, _ := find[event.ToolResult](s); !strings.Contains(r.Result, "could not be saved") {
					t.Fatalf("the result was %q", r.Result)
				}
				stored := slices.Clone(s.mem.events)
				s.stop()
				resume(t, stored, notStarted)
			})
		})
	}
	t.Run("a yes that came too late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, nil, says("", wipes))
			s.do(event.Submit{Text: "go"})
			s.mem.mu.Lock()
			s.mem.full = "tool.started"
			s.mem.mu.Unlock()
			asked, _ := find[event.ApprovalAsked](s)
			s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
			stored := slices.Clone(s.mem.events)
			s.stop()
			resume(t, stored, notStarted)
		})
	})
}

var errDiskFull = errors.New("no space left on device")
