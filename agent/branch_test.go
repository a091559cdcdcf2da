package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

// branched lists "branch type" of the events on other branches.
func (s *session) branched() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, env := range s.seen {
		if env.Branch != 0 {
			out = append(out, fmt.Sprint(env.Branch, " ", event.Type(env.Payload)))
		}
	}
	return out
}

func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("first"), hangs("working"), says("from the side"), says("more"))
		s.do(event.Submit{Text: "one"})
		s.do(event.Submit{Text: "two"})
		s.do(event.Submit{Text: "beside", Background: true})
		if msgs := s.request(); len(msgs) != 4 || msgs[2].Content != "two" || msgs[3].Content != "beside" {
			t.Errorf("the fork was asked %+v", msgs)
		}
		b, n := find[event.BranchStarted](s)
		if n != 1 || b.Branch != 1 || b.Why != "bg" || b.FromSeq == 0 {
			t.Errorf("%d branches, the last %+v", n, b)
		}
		got := s.branched()
		if got[0] != "1 prompt.submitted" || got[1] != "1 task.queued" || got[2] != "1 task.started" || got[len(got)-1] != "1 task.finished" || !slices.Contains(got, "1 model.message") {
			t.Errorf("on the branch: %v", got)
		}
		if done, _ := find[event.TaskFinished](s); done.ID != 3 || done.Outcome != event.Completed {
			t.Errorf("finished %+v", done)
		}
		s.do(event.Cancel{})
		s.do(event.Submit{Text: "three"})
		for _, m := range s.request() {
			if strings.Contains(m.Content, "side") {
				t.Errorf("the main conversation knows %q", m.Content)
			}
		}
		s.stop()
		again := start(t, func(o *Options) { o.Replay = s.mem.events })
		if got, want := len(again.Messages()), len(s.Messages()); got != want || len(again.tasks.forks) != 0 {
			t.Errorf("the replay has %d messages and %d branches, want %d and none", got, len(again.tasks.forks), want)
		}
		again.stop()
	})
}

func TestForkWhileAToolRuns(t *testing.T) { // the fork's history is valid
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", aHang), says("beside"), says("done"))
		s.do(event.Submit{Text: "hang"})
		s.do(event.Submit{Text: "beside", Background: true})
		msgs := s.request()
		if len(msgs) != 4 || msgs[2].Content != inProgress {
			t.Errorf("the fork was asked %+v", msgs)
		}
		s.do(event.Cancel{Task: 1})
		s.stop()
	})
}

const aHang = `c1 do {"kind":"file_read","do":"hang"}`

func TestCancelABackgroundTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, hangs("a"), hangs("b"))
		s.do(event.Submit{Text: "main"}, event.Submit{Text: "side", Background: true})
		s.do(event.Cancel{Task: 2})
		if done, n := find[event.TaskFinished](s); n != 1 || done.ID != 2 || done.Outcome != event.Cancelled {
			t.Errorf("%d tasks finished, the last %+v", n, done)
		}
		s.do(event.Cancel{Task: 2})
		if e, _ := find[event.Error](s); !strings.Contains(e.Text, "task 2 is not running") {
			t.Errorf("error %+v", e)
		}
		s.stop()
	})
}

func TestTooManyBranches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []step
		for range maxBranches {
			steps = append(steps, hangs("a"))
		}
		s := start(t, nil, steps...)
		for range maxBranches + 1 {
			s.do(event.Submit{Text: "side", Background: true})
		}
		if e, n := find[event.Error](s); n != 1 || !strings.Contains(e.Text, "8 tasks are already running in the background") {
			t.Errorf("%d errors, the last %+v", n, e)
		}
		s.stop()
	})
}

func TestBackgroundTaskOfACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, hangs("main"), says("", `c1 do {"kind":"shell","do":"hang"}`))
		s.do(event.Submit{Text: "one"}, event.Submit{Text: "side", Background: true})
		s.do(event.AnswerApproval{ID: openApproval(s), Decision: event.Once})
		crashed := slices.Clone(s.mem.events)
		s.stop()

		again := start(t, func(o *Options) { o.Replay = crashed })
		var got []event.TaskFinished
		again.mu.Lock()
		for _, env := range again.seen {
			if p, ok := env.Payload.(event.TaskFinished); ok {
				got = append(got, p)
			}
		}
		again.mu.Unlock()
		if len(got) != 2 || !slices.ContainsFunc(got, func(f event.TaskFinished) bool { return f.Outcome == event.Failed && f.Error == errLost.Error() }) {
			t.Errorf("finished %+v", got)
		}
		if r, n := find[event.ToolResult](again); n != 1 || !strings.HasPrefix(r.Result, "recovered from") {
			t.Errorf("%d results, the last %+v", n, r)
		}
		if n := len(again.tasks.forks); n != 0 {
			t.Errorf("%d branches are left", n)
		}
		again.stop()
	})
}
