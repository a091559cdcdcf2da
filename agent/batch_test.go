package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// streams sends a text, then calls one by one, a second apart, and ends with end.
func streams(end func(m model.Message, yield func(model.Delta, error) bool), calls ...string) step {
	return func(ctx context.Context, yield func(model.Delta, error) bool) {
		m := model.Message{Role: model.Assistant, Content: "let me see "}
		if !yield(model.Delta{Kind: model.Text, Text: m.Content}, nil) {
			return
		}
		for _, c := range calls {
			call := toolCall(c)
			m.ToolCalls = append(m.ToolCalls, call)
			if !yield(model.Delta{Kind: model.CallReady, CallID: call.ID, Call: &call}, nil) {
				return
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				yield(model.Delta{}, ctx.Err())
				return
			}
		}
		end(m, yield)
	}
}

func whole(m model.Message, yield func(model.Delta, error) bool) {
	yield(model.Delta{Kind: model.Done, Message: &m, Finish: "tool_calls"}, nil)
}

// safe is a call without side effects that takes some seconds.
func safe(id string, seconds int) string {
	return fmt.Sprintf(`%s do {"kind":"file_read","do":"sleep","par":true,"seconds":%d}`, id, seconds)
}

// trace lists the events of calls, with the seconds since the start of the task.
func (s *session) trace() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	began := int64(0)
	for _, env := range s.seen {
		what := ""
		switch p := env.Payload.(type) {
		case event.TaskStarted:
			began = env.Time
		case event.ToolStarted:
			what = "start " + p.CallID
		case event.ModelMessage:
			what = "message"
		case event.ToolResult:
			what = "result " + p.CallID
		}
		if what != "" {
			out = append(out, fmt.Sprintf("%d %s", (env.Time-began)/1000, what))
		}
	}
	return out
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSafeCallsStartWhileTheAnswerStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Mode = action.ModeAll },
			streams(whole, safe("c1", 6), safe("c2", 1), `c3 do {"kind":"shell","do":"sleep","seconds":2}`, safe("c4", 2), safe("c5", 3)), says("ok"))
		s.do(event.Submit{Text: "go"})
		time.Sleep(time.Minute)
		synctest.Wait()
		// c1 and c2 start at once; c3 has side effects, so it waits for both, and all later calls wait for it.
		expect(t, s.trace(), "0 start c1", "1 start c2", "2 result c2", "5 message", "6 result c1",
			"6 start c3", "8 result c3", "8 start c4", "8 start c5", "10 result c4", "11 result c5", "11 message")
		expect(t, s.results(), "done c1", "done c2", "done c3", "done c4", "done c5")
		s.stop()
	})
}

func TestAskedCallsWaitForTheEndOfTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, streams(whole, `c1 do {"kind":"shell","do":"echo","par":true}`, safe("c2", 1)), says("ok"))
		s.do(event.Submit{Text: "go"})
		if _, n := find[event.ToolRequested](s); n != 0 {
			t.Errorf("%d calls requested while the answer streams, want none", n)
		}
		time.Sleep(10 * time.Second)
		s.do()
		asked, _ := find[event.ApprovalAsked](s)
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		time.Sleep(10 * time.Second)
		s.do()
		expect(t, s.results(), "done c1", "done c2")
		s.stop()
	})
}

// An answer's text is published before its calls, and each of several calls is judged, approved and corrected
// separately.
func TestEachCallOfAnAnswerIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		thinks := func(ctx context.Context, yield func(model.Delta, error) bool) {
			if yield(model.Delta{Kind: model.Reasoning, Field: "reasoning", Text: "three calls "}, nil) {
				says("let me try ", `c1 do {"kind":"shell","do":"echo"}`, `c2 Do {"kind":"file_read","do":"echo"}`, `c3 do {"kind":"shell","do":"sleep"}`, `c4 do {"kind":"shell","do":"fail"}`)(ctx, yield)
			}
		}
		s := start(t, nil, thinks, says("ok"))
		s.do(event.Submit{Text: "go"})
		for _, decision := range []event.Decision{event.Once, event.Deny, event.Once} {
			s.do(event.AnswerApproval{ID: openApproval(s), Decision: decision})
		}
		if _, n := find[event.ApprovalAsked](s); n != 3 {
			t.Errorf("asked %d times, want for each command", n)
		}
		got := s.results()
		if len(got) != 4 || !strings.HasPrefix(got[1], "done c2") || !strings.Contains(got[1], `"Do"`) {
			t.Fatalf("results %q", got)
		}
		got[1] = "corrected"
		expect(t, got, "done c1", "corrected", "Command execution denied by user.", "Tool error: it broke")
		s.wantOrder("model.reasoning_delta", `
			model.reasoning_delta model.text_delta model.message model.response_finished metrics.usage
			tool.requested approval.asked approval.answered decision.explained tool.started tool.output tool.result
			tool.requested decision.explained tool.started tool.output tool.result
			tool.requested approval.asked approval.answered decision.explained tool.result
			tool.requested approval.asked approval.answered decision.explained tool.started tool.result
			turn.finished context.usage turn.started model.request_started model.text_delta model.message model.response_finished metrics.usage
			turn.finished context.usage task.finished exchange.finished`)
		s.stop()
	})
}

func TestAtMostTenCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		for i := range 25 {
			calls = append(calls, fmt.Sprintf(`c%d do {"kind":"file_read","do":"sleep","par":true,"seconds":10,"n":%d}`, i, i))
		}
		s := start(t, nil, says("", calls...), says("ok"))
		s.do(event.Submit{Text: "go"})
		for _, want := range []int{10, 20, 25} {
			if _, n := find[event.ToolStarted](s); n != want {
				t.Errorf("%d calls started, want %d", n, want)
			}
			time.Sleep(10 * time.Second)
			s.do()
		}
		if got := s.results(); len(got) != 25 || got[24] != "done c24" {
			t.Errorf("results %q", got)
		}
		s.stop()
	})
}

func TestFailedAttemptsLeaveNothing(t *testing.T) {
	retried := func(ctx context.Context, yield func(model.Delta, error) bool) {
		streams(func(model.Message, func(model.Delta, error) bool) {}, safe("c1", 30))(ctx, yield)
		if yield(model.Delta{Kind: model.Retry, Retry: &model.RetryNotice{Attempt: 1, Fault: &model.Error{What: "reset"}}}, nil) {
			streams(whole, safe("c1", 2))(ctx, yield)
		}
	}
	filtered := func(m model.Message, yield func(model.Delta, error) bool) {
		yield(model.Delta{Kind: model.Done, Message: &m, Finish: model.FinishContentFilter}, nil)
	}
	broken := func(_ model.Message, yield func(model.Delta, error) bool) {
		yield(model.Delta{}, errors.New("connection reset"))
	}
	panics := func(model.Message, func(model.Delta, error) bool) { panic("adapter") }
	tests := []struct {
		name    string
		step    step
		outcome event.Outcome
		history []string
	}{
		{"retried", retried, event.Completed, []string{"done"}},
		{"filtered", streams(filtered, safe("c1", 30)), event.Failed, nil},
		{"broken", streams(broken, safe("c1", 30)), event.Failed, nil},
		{"panic", streams(panics, safe("c1", 30)), event.Failed, nil},
		{"not in the whole answer", streams(func(m model.Message, yield func(model.Delta, error) bool) {
			m.ToolCalls = nil
			yield(model.Delta{Kind: model.Done, Message: &m, Finish: "stop"}, nil)
		}, safe("c1", 30)), event.Completed, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil, tt.step, says("ok"), says("ok"))
				s.do(event.Submit{Text: "go"})
				time.Sleep(10 * time.Second) // shorter than the call
				s.do()
				if f, n := find[event.TaskFinished](s); n != 1 || f.Outcome != tt.outcome {
					t.Fatalf("%d finished, %+v, want %s", n, f, tt.outcome)
				}
				s.do(event.Submit{Text: "next"})
				got := s.results()
				for i := range got {
					got[i], _, _ = strings.Cut(got[i], " ")
				}
				expect(t, got, tt.history...)
				_, started := find[event.ToolStarted](s)
				if _, ended := find[event.ToolResult](s); ended != started {
					t.Errorf("%d calls started, %d ended for those who watch", started, ended)
				}
				// A process that resumes from the journal has the same history.
				s.stop()
				again := start(t, func(o *Options) { o.Replay = s.mem.events }, says("ok"))
				if !slices.EqualFunc(again.Messages(), s.Messages(), func(a, b model.Message) bool { return a.Content == b.Content }) {
					t.Errorf("replayed %+v\nlive     %+v", again.Messages(), s.Messages())
				}
				again.stop()
			})
		})
	}
}

func TestCrashWhileCallsRunEarly(t *testing.T) { // the answer was incomplete, so only what has a result stays
	synctest.Test(t, func(t *testing.T) {
		stored := crash(t, streams(whole, safe("c1", 1), safe("c2", 60), safe("c3", 61), safe("c4", 62)))
		s := start(t, func(o *Options) { o.Replay = stored }, says("fine"))
		if _, n := find[event.ToolResult](s); n != 3 {
			t.Errorf("%d calls that had started were closed for those who watch, want 3: c1 has its result", n)
		}
		s.do(event.Continue{})
		expect(t, saidTexts(s.model.requests[0].Messages), "user:go", "assistant:let me see ", "tool:done c1")
		s.stop()
	})
}

func TestCancelWhileCallsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, streams(whole, safe("c1", 1), safe("c2", 30), `c3 do {"kind":"shell","do":"echo"}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		time.Sleep(5 * time.Second)
		s.do(event.Cancel{})
		s.do(event.Submit{Text: "next"})
		expect(t, s.results(), "done c1", "operation cancelled by user", "operation cancelled by user")
		s.stop()
	})
}

func TestFailingCommandCancelsItsSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Mode = action.ModeAll },
			says("", safe("c1", 30), `c2 do {"kind":"shell","do":"fail","par":true}`, `c3 do {"kind":"file_read","do":"echo"}`, safe("c4", 0)), says("ok"))
		s.do(event.Submit{Text: "go"})
		time.Sleep(time.Second)
		s.do()
		expect(t, s.results(), "Tool error: cancelled, because a command in the same answer failed", "Tool error: it broke", "done c3", "done c4")
		s.stop()
	})
}

func TestToolTimeout(t *testing.T) { // not for commands, and not while waiting for approval
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("",
			`c1 do {"kind":"file_read","do":"sleep","seconds":3600}`,
			`c2 do {"kind":"shell","do":"sleep","seconds":3600}`,
			`c3 do {"kind":"file_write","do":"sleep","seconds":59}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		for range 2 {
			time.Sleep(2 * time.Hour)
			s.do()
			asked, _ := find[event.ApprovalAsked](s)
			s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		}
		time.Sleep(2 * time.Hour)
		s.do()
		expect(t, s.results(), "Tool error: do was stopped after 1m0s", "done c2", "done c3")
		if r, _ := find[event.ToolResult](s); r.DurationMS != 59_000 {
			t.Errorf("the last call took %d ms", r.DurationMS)
		}
		s.stop()
	})
}

func TestSameFailureThreeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := `c1 do {"kind":"file_read","do":"fail","par":true}`
		s := start(t, nil, says("", call, call, call), says("", call, `c2 do {"kind":"file_read","do":"echo"}`), says("ok"), says("", call), says("ok"))
		s.do(event.Submit{Text: "go"})
		const not = "Tool error: not run: the same call failed 2 times before\nChange the arguments, or do something else. The error: it broke"
		expect(t, s.results(), "Tool error: it broke", "Tool error: it broke", not, not, "done c2")
		if len(s.tool.ran) != 3 {
			t.Errorf("ran %v, want two of the failing calls and the other", s.tool.ran)
		}
		s.do(event.Submit{Text: "again"}) // another exchange may try again
		if got := s.results(); got[5] != "Tool error: it broke" {
			t.Errorf("in the next exchange: %q", got)
		}
		s.stop()
	})
}

func TestNudges(t *testing.T) { // nudges are never stored
	tests := []struct {
		name, hint string
		steps      []step
		history    string
	}{
		{"empty", "was empty", []step{says(""), says("fine")}, "user:go assistant:fine"},
		{"no call", "no call arrived", []step{ends(model.FinishToolCalls, ""), says("fine")}, "user:go assistant:half assistant:fine"},
		{"cut off", "exactly where it stopped", []step{ends(model.FinishLength, aCall), ends(model.FinishLength, ""), says("fine")}, "user:go assistant:half assistant:half assistant:fine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil, append(tt.steps, says("next"))...)
				s.do(event.Submit{Text: "go"})
				if f, _ := find[event.TaskFinished](s); f.Outcome != event.Completed || len(s.tool.ran) != 0 {
					t.Errorf("finished %+v, ran %v", f, s.tool.ran)
				}
				for i, req := range s.model.requests {
					last := req.Messages[len(req.Messages)-1]
					if hinted := strings.Contains(last.Content, tt.hint); hinted != (i > 0) || last.Role != model.User {
						t.Errorf("request %d ends with %+v", i, last)
					}
				}
				if r, _ := find[event.RequestStarted](s); r.Attempt != len(tt.steps) {
					t.Errorf("the last attempt is %d, want %d", r.Attempt, len(tt.steps))
				}
				var got []string
				for _, m := range s.Messages() {
					got = append(got, string(m.Role)+":"+m.Content)
				}
				if strings.Join(got, " ") != tt.history {
					t.Errorf("history %q\nwant    %q", got, tt.history)
				}
				s.stop()
			})
		})
	}
}

// paneTool works in a pane.
type paneTool struct{ fakeTool }

func (*paneTool) Pane(c tools.Call) tools.PaneUse {
	return tools.PaneUse{Pane: tools.PaneRef{Target: "web", ID: "%" + c.Planned.Path[1:]}, Terminal: true}
}

// The event tool.started names the pane of the call, so that a screen can follow it.
func TestToolStartedNamesThePane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Tools = tools.NewRegistry(&paneTool{}); o.Mode = action.ModeAll }, says("", `c1 do {"do":"echo"}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		if e, n := find[event.ToolStarted](s); n != 1 || e.Pane != "web:%w/file" || !e.Terminal {
			t.Errorf("%d calls started, the last as %+v", n, e)
		}
		s.stop()
	})
}
