package agent

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/hooks"
)

// Session start hooks get how the session began, and their matchers select by it.
func TestHooksOfTheStartAreToldHowItBegan(t *testing.T) {
	t.Parallel()
	resumed := []event.Envelope{{Seq: 1, Payload: event.SessionCreated{}}}
	forked := append(resumed, event.Envelope{Seq: 2, Payload: event.SessionForked{From: "s0"}})
	last := event.Envelope{Seq: 2, Payload: event.Notice{}} // last event of a loaded file
	for source, o := range map[string]Options{
		"startup": {}, "clear": {Cleared: true}, "resume": {Replay: append(forked, event.Envelope{Seq: 3, Payload: event.SessionResumed{}})}, "fork": {Replay: append(forked, last)},
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			s := newHookSession(t, o, []hookSpec{{hooks.SessionStart, source, "cat >told", ""}, {hooks.SessionStart, "compact|other", "touch wrong", ""}}, says("fine"))
			s.Start()
			if _, err := runText(t, s, "go"); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(s.file("told"), `"source":"`+source+`"`) || len(all[event.HookRan](s)) != 1 {
				t.Errorf("told %q, ran %+v", s.file("told"), all[event.HookRan](s))
			}
		})
	}
}

// The output of session start hooks is added once: the same output is not repeated, and new output replaces the
// earlier one, also in a loaded session.
func TestTextOfTheStartIsNotStacked(t *testing.T) {
	t.Parallel()
	var replay []event.Envelope
	for i, said := range []string{"rules of monday", "rules of monday", "rules of tuesday", "rules of wednesday"} {
		o := Options{}
		if i > 0 {
			o.Replay = append(replay, event.Envelope{Seq: replay[len(replay)-1].Seq + 1, Payload: event.SessionResumed{}})
		}
		s := newHookSession(t, o, []hookSpec{{hooks.SessionStart, "startup|resume", "echo " + said, ""}}, says("fine"))
		s.Start()
		if _, err := runText(t, s, "go"); err != nil {
			t.Fatal(err)
		}
		request := s.model.requests[0]
		if all, now := countIn(request, "rules of"), countIn(request, said); all != 1 || now != 1 {
			t.Errorf("start %d: %d texts of starts, %d of this one", i, all, now)
		}
		if want, got := fmt.Sprint(request.Messages), fmt.Sprint(s.Messages()); !strings.HasPrefix(got, strings.TrimSuffix(want, "]")) {
			t.Errorf("the history is\n%s\nand the request was\n%s", got, want)
		}
		s.mu.Lock()
		for _, env := range s.events {
			if event.Durable(env.Payload) && env.Seq > uint64(len(replay)) {
				replay = append(replay, env)
			}
		}
		s.mu.Unlock()
	}
}

// notified returns the number of notifications that hooks got.
func notified(s *session) int {
	_, n := find[event.HookStarted](s)
	return n
}

// withHook runs one command for all notifications of a kind.
func withHook(t *testing.T, kind string) func(*Options) {
	set := hooks.Parse([]byte(`{"hooks": {"Notification": [{"matcher": "`+kind+`", "hooks": [{"type": "command", "command": "true"}]}]}}`), hooks.Origin{Source: hooks.Person})
	return func(o *Options) { o.Programs = hooks.New(hooks.Options{Handlers: set.Handlers, Cwd: t.TempDir()}) }
}

// A minute after the last answer hooks are notified once that buddy waits; a person's command restarts the minute, an
// automatic command of a screen does not.
func TestIdleSessionIsToldAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withHook(t, "idle_prompt"), says("one"), says("two"))
		after := func(d time.Duration, want int, when string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if n := notified(s); n != want {
				t.Errorf("%s: told %d times", when, n)
			}
		}
		after(time.Hour, 0, "before the first prompt")
		s.do(event.Submit{Text: "go"})
		after(59*time.Second, 0, "too early")
		s.do(event.Pin{Back: 1})
		after(59*time.Second, 0, "a person was there")
		s.do(event.WatchPanes{}, event.FitPane{})
		after(2*time.Second, 1, "idle")
		after(time.Hour, 1, "still idle")
		s.do(event.Submit{Text: "go on"})
		after(30*time.Second, 1, "after the second answer")
		s.do(event.Submit{Text: "!ls", Shell: true})
		after(59*time.Second, 1, "after a command")
		after(2*time.Second, 2, "idle again")
		s.stop()
	})
}

// Without a hook for it there is no timer.
func TestIdleSessionWithoutSuchAHookHasNoTimer(t *testing.T) {
	for name, o := range map[string]func(*Options){"none": nil, "another": withHook(t, "permission_prompt")} {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, o, says("one"))
			s.do(event.Submit{Text: "go"})
			s.tasks.idleness.mu.Lock()
			if s.tasks.idleness.timer != nil {
				t.Errorf("%s: a timer runs", name)
			}
			s.tasks.idleness.mu.Unlock()
			s.stop()
		})
	}
}

// A session that ends while it is idle notifies no hook.
func TestIdleSessionThatEndsTellsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withHook(t, "idle_prompt"), says("one"))
		s.do(event.Submit{Text: "go"})
		s.stop()
		time.Sleep(time.Hour)
		if n := notified(s); n != 0 {
			t.Errorf("told %d times", n)
		}
	})
}

// Stop hooks get the list of background tasks.
func TestStopHookIsToldWhatRunsBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		set := hooks.Parse([]byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "cat >>told"}]}]}}`), hooks.Origin{Source: hooks.Person})
		long := &longTool{done: make(chan struct{})}
		s := start(t, func(o *Options) {
			withLong(long)(o)
			o.Programs = hooks.New(hooks.Options{Handlers: set.Handlers, Cwd: dir})
		}, says("fine"), says("", "c1 run_shell {}"), says("started"))
		s.do(event.Submit{Text: "nothing"})
		s.do(event.Submit{Text: "serve"})
		told := strings.Split(strings.TrimSpace((&hookSession{dir: dir}).file("told")), "\n")
		if len(told) != 2 || !strings.Contains(told[0], `"background_tasks":[]`) ||
			!strings.Contains(told[1], `"background_tasks":[{"id":"3","type":"shell","status":"running","description":"npm run dev","command":"npm run\ndev"}]`) {
			t.Errorf("told %q", told)
		}
		close(long.done)
		s.stop()
	})
}
