package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/tools"
)

// waitingTool waits for its work unless it is moved to the background.
type waitingTool struct{ longTool }

func (*waitingTool) Releases(tools.Call) bool { return true }

func (w *waitingTool) Run(ctx context.Context, c tools.Call) tools.Result {
	select {
	case <-ctx.Done():
		return tools.Failure(ctx.Err())
	case <-c.Release:
		return w.longTool.Run(ctx, c)
	}
}

// TestSentToTheBackground: the call that the main task waits for returns, the model continues, and later gets the end
// of the background work.
func TestSentToTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &waitingTool{longTool{done: make(chan struct{})}}
		s := start(t, func(o *Options) { o.Tools = tools.NewRegistry(tool) }, says("", "c1 run_shell {}"), says("goes on"), says("I see"))
		s.do(event.Background{})
		if e, n := find[event.Error](s); n != 1 || e.Text != "no command is running that could move to the background" {
			t.Errorf("%d errors, %+v, while nothing runs", n, e)
		}
		s.do(event.Submit{Text: "build"})
		if got := s.results(); len(got) != 0 {
			t.Fatalf("results %v before it is sent to the background", got)
		}
		s.do(event.Background{})
		if got := s.results(); len(got) != 1 || got[0] != "task 2" {
			t.Errorf("results %v", got)
		}
		if begun, _ := find[event.TaskStarted](s); begun.ID != 2 || begun.Kind != event.ShellTask {
			t.Errorf("task %+v", begun)
		}
		if end, _ := find[event.TaskFinished](s); end.ID != 1 || end.Outcome != event.Completed {
			t.Errorf("the main task ended %+v", end)
		}
		close(tool.done)
		synctest.Wait()
		s.do(event.Submit{Text: "and now?"})
		if got := s.lastReminder(); !strings.Contains(got, "Task 2, which run_shell left running, ended with exit code 0") {
			t.Errorf("told %q", got)
		}
		s.do(event.Background{})
		if _, n := find[event.Error](s); n != 2 {
			t.Errorf("%d errors: a call that has returned can't be sent away", n)
		}
		s.stop()
	})
}
