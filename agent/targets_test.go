package agent

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
)

// someTargets is a set of targets for tests.
type someTargets struct {
	names   []string
	current string
}

func (s *someTargets) Names() []string { return s.names }
func (s *someTargets) Current() string { return s.current }

func (s *someTargets) Switch(name string) (string, bool) {
	if !slices.Contains(s.names, name) {
		return "", false
	}
	s.current = name
	return "/srv/" + name, true
}

func on(names ...string) (*someTargets, func(*Options)) {
	all := &someTargets{names, names[0]}
	return all, func(o *Options) { o.Targets, o.Target = all, names[0] }
}

// mentions counts the messages of the last request that contain a text.
func (s *session) mentions(text string) (n int) {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	for _, m := range s.model.requests[len(s.model.requests)-1].Messages {
		if m.Role == model.User && strings.Contains(m.Content, text) {
			n++
		}
	}
	return n
}

// TestSwitchTarget: the switch is published, and the model learns it once, after the cached prefix.
func TestSwitchTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets, with := on("local", "web-01")
		s := start(t, with, says("one"), hangs("two"), says("three"))
		s.do(event.Submit{Text: "a"})
		s.do(event.SwitchTarget{Name: "db"})
		if e, n := find[event.Error](s); n != 1 || !strings.Contains(e.Text, `unknown target "db" (have: local, web-01)`) {
			t.Errorf("unknown target: %d errors, %+v", n, e)
		}
		s.do(event.SwitchTarget{Name: "web-01"})
		if e, n := find[event.TargetSwitched](s); n != 1 || e != (event.TargetSwitched{Name: "web-01", Cwd: "/srv/web-01"}) || targets.current != "web-01" {
			t.Errorf("%d switches, %+v, on %s", n, e, targets.current)
		}
		s.do(event.Submit{Text: "b"})
		if s.mentions("without a target now run on web-01") != 1 {
			t.Error("the model was not told")
		}
		s.do(event.SwitchTarget{Name: "local"})
		if e, n := find[event.Error](s); n != 2 || !strings.Contains(e.Text, "while task #2 is running") || targets.current != "web-01" {
			t.Errorf("while a task runs: %d errors, %+v", n, e)
		}
		s.do(event.Cancel{})
		s.do(event.Submit{Text: "c"})
		if s.mentions("now run on") != 1 {
			t.Error("the model was told twice")
		}
		before, after := s.model.requests[0].Messages, s.model.requests[2].Messages
		for i, m := range before {
			if m.Content != after[i].Content {
				t.Errorf("message %d changed from %q to %q", i, m.Content, after[i].Content)
			}
		}
		s.stop()
	})
}

func TestSwitchWithoutTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil)
		s.do(event.SwitchTarget{Name: "web-01"})
		if e, n := find[event.Error](s); n != 1 || e.Text != "there is no other target" {
			t.Errorf("%d errors, %+v", n, e)
		}
		s.stop()
	})
}

// TestTargetRestored: a resumed session has the same current target, and reports a switch that the model has not
// seen.
func TestTargetRestored(t *testing.T) {
	for _, asked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			_, with := on("local", "web-01")
			first := start(t, with, says("one"), says("two"))
			first.do(event.Submit{Text: "a"})
			first.do(event.SwitchTarget{Name: "web-01"})
			if asked {
				first.do(event.Submit{Text: "b"})
			}
			first.stop()
			targets, with := on("local", "web-01")
			s := start(t, func(o *Options) { with(o); o.Replay = first.mem.events }, says("three"))
			if e, n := find[event.TargetSwitched](s); n != 1 || e.Name != "web-01" || targets.current != "web-01" {
				t.Errorf("%d switches, %+v, on %s", n, e, targets.current)
			}
			s.do(event.Submit{Text: "c"})
			if n := s.mentions("without a target now run on web-01"); n != 1 {
				t.Errorf("asked before %v: told %d times", asked, n)
			}
			s.stop()
		})
	}
}

// TestTargetGone: a target that is no longer configured is reported, and no call moves to another target without the
// model knowing.
func TestTargetGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, with := on("local", "web-01")
		first := start(t, with, says("one"))
		first.do(event.Submit{Text: "a"})
		first.do(event.SwitchTarget{Name: "web-01"})
		first.stop()
		targets, with := on("local", "web-02")
		s := start(t, func(o *Options) { with(o); o.Replay = first.mem.events }, says("two"))
		if w, n := find[event.Warning](s); n != 1 || w.Code != "target" || !strings.Contains(w.Text, `"web-01" was current`) || targets.current != "local" {
			t.Errorf("%d warnings, %+v", n, w)
		}
		s.do(event.Submit{Text: "b"})
		if s.mentions("web-01 no longer exists: tool calls without a target run on local") != 1 {
			t.Error("the model was not told")
		}
		s.stop()
	})
}
