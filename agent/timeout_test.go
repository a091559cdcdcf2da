package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/tools"
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
		wantError(event.SetTimeout{Duration: time.Second}, "2 tasks are running: name one (have: #1, #2)")
		wantError(event.SetTimeout{Task: 9, Duration: time.Second}, "task 9 is not running")
		wantError(event.SetTimeout{Task: 1, Duration: -1}, "not a valid time limit")
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
		if n, _ := find[event.Notice](s); n.Text != "the time limit of task #1 is over: buddy cancelled it" {
			t.Errorf("notice %+v", n)
		}
		s.do(event.SetTimeout{Duration: time.Minute}) // the only one running
		s.do(event.Cancel{Task: 2})
		s.do(event.Submit{Text: "three"})
		time.Sleep(2 * time.Hour)
		if done, n := find[event.TaskFinished](s); n != 3 || done.Outcome != event.Completed {
			t.Errorf("%d finished, the last %+v: a timer outlived its task", n, done)
		}
		s.stop()
	})
}

// Calls that a time limit ended are described to the model as timed out, those that had not started, too.
func TestTimedOutCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Mode = action.ModeAll }, says("", `c1 do {"kind":"file_write","do":"hang"}`, `c2 do {"kind":"file_write","do":"echo"}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		s.do(event.SetTimeout{Duration: 30 * time.Second})
		time.Sleep(time.Hour)
		s.do(event.Submit{Text: "next"})
		const want = "timed out: the user's time limit for this task is over"
		if got := s.results(); len(got) != 2 || got[0] != want || got[1] != want {
			t.Errorf("results %q", got)
		}
		s.stop()
	})
}

// TestTimeoutOfCommand: a background command has a deadline like other tasks, alone or together with them, also in
// the next process.
func TestTimeoutOfCommand(t *testing.T) {
	t.Run("the only task", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			long := &longTool{done: make(chan struct{})}
			s := start(t, withLong(long), says("", "c1 run_shell {}"), says("started"))
			s.do(event.Submit{Text: "serve"})
			s.do(event.SetTimeout{Duration: time.Minute})
			if d, n := find[event.TaskDeadline](s); n != 1 || d.ID != 2 || d.Deadline != time.Now().Add(time.Minute).UnixMilli() {
				t.Errorf("%d deadlines, the last %+v", n, d)
			}
			time.Sleep(50 * time.Second)
			if w := WorkOf(s.Runtime).Running; len(w) != 1 || time.Since(w[0].Began) != 50*time.Second || time.Until(w[0].Until) != 10*time.Second {
				t.Errorf("tasks: %+v", w)
			}
			time.Sleep(11 * time.Second)
			synctest.Wait()
			if end, _ := find[event.TaskFinished](s); !long.stopped.Load() || end != (event.TaskFinished{ID: 2, Outcome: event.Cancelled}) {
				t.Errorf("stopped %v, end %+v", long.stopped.Load(), end)
			}
			if n, _ := find[event.Notice](s); n.Text != "the time limit of task #2 is over: buddy cancelled it" {
				t.Errorf("notice %+v", n)
			}
			s.stop()
		})
	})
	t.Run("beside another", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			long := &longTool{done: make(chan struct{})}
			s := start(t, withLong(long), says("", "c1 run_shell {}"), hangs("a"))
			s.do(event.Submit{Text: "serve"})
			s.do(event.SetTimeout{Duration: time.Minute})
			if e, _ := find[event.Error](s); !strings.Contains(e.Text, "2 tasks are running: name one (have: #1, #2)") {
				t.Errorf("error %+v", e)
			}
			s.do(event.SetTimeout{Task: 2, Duration: time.Minute}, event.Cancel{Task: 1})
			if long.stopped.Load() {
				t.Error("it ended with the other task")
			}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if !long.stopped.Load() {
				t.Error("it goes on after its deadline")
			}
			s.stop()
		})
	})
	t.Run("in the next process", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			first := &longTool{done: make(chan struct{})}
			s := start(t, withLong(first), says("", "c1 run_shell {}"), says("started"))
			s.do(event.Submit{Text: "serve"})
			s.do(event.SetTimeout{Duration: time.Hour})
			s.stop()
			time.Sleep(30 * time.Minute)
			long := &longTool{done: make(chan struct{})}
			s = start(t, func(o *Options) { withLong(long)(o); o.Replay = s.mem.events })
			if d, _ := find[event.TaskStarted](s); d.Deadline != time.Now().Add(30*time.Minute).UnixMilli() {
				t.Errorf("task %+v", d)
			}
			time.Sleep(31 * time.Minute)
			synctest.Wait()
			if first.stopped.Load() || !long.stopped.Load() {
				t.Errorf("stopped: %v by the process that has ended, %v by this one", first.stopped.Load(), long.stopped.Load())
			}
			s.stop()
		})
	})
}

// stubborn keeps running after a stop request.
type stubborn struct{ longTool }

func (l *stubborn) Run(_ context.Context, c tools.Call) tools.Result {
	w := l.task()
	w.Stop = func() { l.stopped.Store(true) }
	return tools.Result{Content: fmt.Sprintf("task %d", c.Begin(w))}
}

// TestTimeoutWhileCancelling: a task that is being cancelled accepts no deadline, and keeps none.
func TestTimeoutWhileCancelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &stubborn{longTool{done: make(chan struct{})}}
		s := start(t, func(o *Options) { o.Tools = tools.NewRegistry(tool) }, says("", "c1 run_shell {}"), says("started"))
		s.do(event.Submit{Text: "serve"})
		s.do(event.SetTimeout{Duration: time.Minute}, event.Cancel{Task: 2}, event.SetTimeout{Duration: time.Minute})
		if e, _ := find[event.Error](s); !strings.Contains(e.Text, "task 2 is already being cancelled") {
			t.Errorf("error %+v", e)
		}
		if w := WorkOf(s.Runtime).Running; len(w) != 1 || w[0].State != "stopping" || !w[0].Until.IsZero() {
			t.Errorf("tasks: %+v", w)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if c, n := find[event.TaskCancelling](s); n != 1 {
			t.Errorf("it was cancelled %d times, %+v", n, c)
		}
		close(tool.done)
		s.stop()
	})
}

// TestTasksListSaysWhatTheyWaitFor: an approval, a question, and the remaining time.
func TestTasksListSaysWhatTheyWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", `c1 do {"kind":"shell","do":"x"}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		s.do(event.SetTimeout{Duration: time.Minute})
		if w := WorkOf(s.Runtime).Running; len(w) != 1 || w[0].State != "waiting for your approval" || time.Until(w[0].Until) != time.Minute {
			t.Errorf("tasks: %+v", w)
		}
		s.do(event.AnswerApproval{ID: openApproval(s), Decision: event.Deny})
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
