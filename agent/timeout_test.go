package agent

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
)

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, hangs("a"), hangs("b"), says("fine"))
		wantError := func(c event.Command, want string) {
			t.Helper()
			s.do(c)
			if e, _ := find[event.Error](s); !strings.Contains(e.Text, want) {
				t.Errorf("%+v: error %+v, want %q", c, e, want)
			}
		}
		wantError(event.SetTimeout{Duration: time.Second}, "nothing is running")
		s.do(event.Submit{Text: "one"}, event.Submit{Text: "two", Background: true})
		wantError(event.SetTimeout{Duration: time.Second}, "2 tasks run: say which one")
		wantError(event.SetTimeout{Task: 9, Duration: time.Second}, "task 9 is not running")
		wantError(event.SetTimeout{Task: 1, Duration: -1}, "no time to end in")
		s.do(event.SetTimeout{Task: 1, Duration: time.Hour}, event.SetTimeout{Task: 1, Duration: time.Minute})
		if d, n := find[event.TaskDeadline](s); n != 2 || d.ID != 1 || d.Deadline != time.Now().Add(time.Minute).UnixMilli() {
			t.Errorf("%d deadlines, the last %+v", n, d)
		}
		time.Sleep(59 * time.Second)
		if _, n := find[event.TaskFinished](s); n != 0 {
			t.Error("it ended before its time")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if done, n := find[event.TaskFinished](s); n != 1 || done.ID != 1 || done.Outcome != event.Cancelled {
			t.Errorf("%d finished, the last %+v", n, done)
		}
		if n, _ := find[event.Notice](s); n.Text != "the time limit of task #1 (1m0s) is over" {
			t.Errorf("notice %+v", n)
		}
		s.do(event.SetTimeout{Duration: time.Minute}) // the only one now
		s.do(event.Cancel{Task: 2})
		s.do(event.Submit{Text: "three"})
		time.Sleep(2 * time.Hour)
		if done, n := find[event.TaskFinished](s); n != 3 || done.Outcome != event.Completed {
			t.Errorf("%d finished, the last %+v: a timer outlived its task", n, done)
		}
		s.stop()
	})
}

func TestLongCommandIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", `c1 do {"kind":"shell","do":"sleep","seconds":200}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		s.do(event.AnswerApproval{ID: openApproval(s), Decision: event.Once})
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if n, count := find[event.Notice](s); count != 1 || !strings.Contains(n.Text, "/timeout") {
			t.Errorf("%d notices, the last %+v", count, n)
		}
		time.Sleep(200 * time.Second)
		synctest.Wait()
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.Completed {
			t.Errorf("finished %+v", done)
		}
		s.stop()
	})
}
