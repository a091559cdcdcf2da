package approval

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/agent/stream"
)

// The key that changes the mode does not answer open requests, although a looser mode would.
func TestCyclingTheModeAnswersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(stream.New("s1", time.Now, nil), policy.Policy{}, "local", action.ModeAsk, time.Now)
		b.SetInteractive()
		act := action.Action{Kind: action.FileWrite, Tool: "write_file", Target: "local", Path: "/w/x"}
		go b.Request(t.Context(), Request{Task: 1, CallID: "c1", Action: act, Verdict: action.Verdict{Decision: action.Ask}})
		synctest.Wait()
		CycleMode(b, "")
		if mode, _ := b.Mode(); mode != action.ModeAsk || len(b.ids(func(*ask) bool { return true })) != 1 {
			t.Errorf("mode %s with a request open", mode)
		}
		b.Answer(event.AnswerApproval{ID: b.ids(func(*ask) bool { return true })[0], Decision: event.Deny})
		synctest.Wait()
		CycleMode(b, "")
		if mode, _ := b.Mode(); mode != action.ModeEdits {
			t.Errorf("mode %s with none", mode)
		}
	})
}

// A new rule settles similar open requests, but not those that an earlier process had opened: they need an answer, or
// a mode set by a person.
func TestRuleIsNoAnswerToAReopenedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(stream.New("s1", time.Now, nil), policy.Policy{}, "local", action.ModeAsk, time.Now)
		b.SetInteractive()
		answers := make(map[string]event.ApprovalAnswered)
		var mu sync.Mutex
		act := action.Action{Kind: action.Shell, Tool: "run_shell", Command: "make all", Cwd: "/w"}
		for id, rule := range map[string]string{"old": Reopened, "one": "", "two": ""} {
			go func() {
				v := action.Verdict{Decision: action.Ask, Rule: rule}
				got := b.Request(t.Context(), Request{Task: 1, CallID: id, Action: act, Verdict: v})
				mu.Lock()
				defer mu.Unlock()
				answers[id] = got
			}()
		}
		synctest.Wait()
		one := b.ids(func(q *ask) bool { return q.CallID == "one" })
		b.Answer(event.AnswerApproval{ID: one[0], Decision: event.Similar})
		synctest.Wait()
		if got := fmt.Sprint(len(answers), answers["one"].By, answers["two"].By); got != "2userpolicy" {
			t.Errorf("answered %+v", answers)
		}
		b.Answer(event.AnswerApproval{ID: one[0], Decision: event.Deny})
		if answers["one"].Decision != event.Similar {
			t.Errorf("the second answer won: %+v", answers["one"])
		}
		b.SetMode(action.ModeAll, 0, "")
		synctest.Wait()
		if got := answers["old"]; got.Decision != event.Once || got.By != "policy" {
			t.Errorf("the mode that was set gave %+v", got)
		}
	})
}
