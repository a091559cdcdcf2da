package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/texts/unseen"
	"buddy/tools"
)

// writerTool writes a file.
type writerTool struct{ dir string }

func (*writerTool) Definition() model.ToolDef { return model.ToolDef{Name: "put"} }

func (w *writerTool) Plan(c tools.Call) (action.Action, error) {
	var args struct{ File string }
	err := json.Unmarshal([]byte(c.Arguments), &args)
	return action.Action{Kind: action.FileWrite, Tool: "put", Target: "local", Path: filepath.Join(w.dir, args.File)}, err
}

func (*writerTool) Run(_ context.Context, c tools.Call) tools.Result {
	if err := os.WriteFile(c.Planned.Path, []byte("x"), 0o600); err != nil {
		return tools.Failure(err)
	}
	return tools.Result{Content: "written"}
}

// puts returns a call that writes a file.
func puts(id, file string) string { return id + ` put {"file":"` + file + `"}` }

// mayLeave are rules of the person that allow some commands outside the sandbox.
var mayLeave = []action.Rule{
	{Decision: action.Allow, Prefix: []string{"make"}, Source: action.FromUser},
	{Decision: action.Allow, Prefix: []string{"git", "push"}, Source: action.FromUser},
}

// sharing starts another session in the same workspace, in a mode.
func (s *session) sharing(mode action.Mode, steps ...step) *session {
	s.t.Helper()
	return start(s.t, func(o *Options) { o.Tools, o.Policy, o.Target, o.Mode = s.opts.Tools, s.opts.Policy, "local", mode }, steps...)
}

// answer answers the last approval.
func (s *session) answer(decision string) {
	a, _ := find[event.ApprovalAsked](s)
	s.do(event.AnswerApproval{ID: a.ID, Decision: event.Decision(decision)})
}

// Editing, testing and committing five times and then pushing needs one approval, which shows the files and offers no
// rule. Then the rule applies again until the next change.
func TestEverydayWorkInModeAutoAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []step
		for i := range 5 {
			steps = append(steps, says("", puts(fmt.Sprint("e", i), fmt.Sprint(i, ".go")), runs(fmt.Sprint("t", i), "go test"), runs(fmt.Sprint("c", i), "git commit -am x")))
		}
		steps = append(steps, says("", leaves("p1", "git push")), says("", leaves("p2", "git push")), says("", runs("t6", "go test")), says("", leaves("p3", "git push")), says("ok"))
		s := inside(t, steps...)
		defer s.stop()
		s.SetRules(mayLeave)
		s.do(event.Submit{Text: "go"})
		a, n := find[event.ApprovalAsked](s)
		if n != 1 || a.CallID != "p1" || a.Verdict.Rule != "changed without asking" || a.Context.Similar != "" {
			t.Fatalf("%d approvals, the last %+v", n, a)
		}
		if want := []string{"0.go", "1.go", "2.go", "3.go", "4.go"}; !slices.Equal(a.Context.Unseen.Paths, want) || a.Context.Unseen.More {
			t.Errorf("the dialog lists %+v, want %v", a.Context.Unseen, want)
		}
		s.answer("once")
		if a, n = find[event.ApprovalAsked](s); n != 2 || a.CallID != "p3" {
			t.Errorf("%d approvals, the last of %s; want the push after the push to run, the one after the test to ask", n, a.CallID)
		}
		s.answer("deny")
	})
}

// Writes with approval are seen; unseen writes in other modes count in auto mode.
func TestWhichWritesCount(t *testing.T) {
	for _, tt := range []struct {
		mode        action.Mode
		there, auto bool // a command outside needs approval in that mode, and in auto mode afterwards
	}{{action.ModeAsk, false, false}, {action.ModeEdits, false, true}, {action.ModeAll, false, true}, {action.ModeAuto, true, true}} {
		synctest.Test(t, func(t *testing.T) {
			s := inside(t, says("", puts("c1", "main.tf")), says("", leaves("c2", "make")), says("ok"), says("", leaves("c3", "make")), says("ok"))
			defer s.stop()
			s.SetRules(mayLeave)
			s.do(event.SetMode{Mode: tt.mode}, event.Submit{Text: "go"})
			if tt.mode == action.ModeAsk {
				s.answer("once")
			}
			a, _ := find[event.ApprovalAsked](s)
			if asked := a.CallID == "c2"; asked != tt.there {
				t.Fatalf("in mode %s the command outside asked: %v, want %v", tt.mode, asked, tt.there)
			}
			s.answer("deny")
			s.do(event.SetMode{Mode: action.ModeAuto}, event.Submit{Text: "go on"})
			if a, _ = find[event.ApprovalAsked](s); (a.CallID == "c3") != tt.auto {
				t.Errorf("after mode %s the last approval was of %q, asked in mode auto: want %v", tt.mode, a.CallID, tt.auto)
			}
		})
	}
}

// The mark belongs to the workspace: it survives a mode change, another session, the next process and a denial.
// Without a change in the sandbox no approval is needed.
func TestMarkOfAWorkspaceIsKept(t *testing.T) {
	for _, changed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			first := []step{says("ok")}
			if changed {
				first = []step{says("", runs("c1", "write main.tf")), says("ok")}
			}
			s := inside(t, append(first, says("", leaves("c2", "make")), says("ok"))...)
			s.SetRules(mayLeave)
			s.do(event.Submit{Text: "go"})
			other := s.sharing(action.ModeEdits, says("", runs("o1", "make")), says("ok")) // at the same time
			other.SetRules(mayLeave)
			other.do(event.Submit{Text: "go"})
			asks := func(s *session, where string) {
				t.Helper()
				a, n := find[event.ApprovalAsked](s)
				if n > 0 != changed || changed && !strings.Contains(a.Context.Unseen.Text(), "main.tf") {
					t.Errorf("changed %v, %s: %d approvals, the last %+v", changed, where, n, a)
				}
				if changed {
					s.answer("deny")
				}
			}
			asks(other, "another session in mode edits")
			s.do(event.SetMode{Mode: action.ModeAsk}, event.Submit{Text: "go on"})
			asks(s, "after a change of the mode")
			s.stop()
			other.stop()
			next := s.sharing(action.ModeAsk, says("", leaves("n1", "make")), says("ok"))
			defer next.stop()
			next.SetRules(mayLeave)
			next.do(event.Submit{Text: "go"})
			asks(next, "the next process")
		})
	}
}

// An approval clears changes made before the dialog, not those made while it was open or by calls that still run.
func TestApprovalClearsWhatWasBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		during func(p unseen.Place) (end func(), err error) // while the dialog is open
		before func(p unseen.Place) (end func(), err error)
		again  bool
	}{
		"nothing else":           {},
		"changed in between":     {during: func(p unseen.Place) (func(), error) { end, err := p.Begin(true); end(); return func() {}, err }, again: true},
		"a command still runs":   {before: func(p unseen.Place) (func(), error) { return p.Begin(true) }, again: true},
		"it ended in between":    {before: func(p unseen.Place) (func(), error) { return p.Begin(true) }, during: func(unseen.Place) (func(), error) { return nil, nil }, again: true},
		"it had ended before it": {before: func(p unseen.Place) (func(), error) { end, err := p.Begin(true); end(); return func() {}, err }},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := inside(t, says("", runs("c1", "write a")), says("", leaves("c2", "make")), says("", leaves("c3", "make")), says("ok"))
			defer s.stop()
			s.SetRules(mayLeave)
			end := func() {}
			if tt.before != nil {
				end, _ = tt.before(s.opts.Policy.Unseen)
			}
			s.do(event.Submit{Text: "go"})
			if tt.during != nil {
				more, err := tt.during(s.opts.Policy.Unseen)
				if err != nil {
					t.Fatal(err)
				}
				if end(); more != nil {
					end = more
				} else {
					end = func() {}
				}
			}
			s.answer("once")
			a, n := find[event.ApprovalAsked](s)
			if again := n == 2 && a.CallID == "c3"; again != tt.again {
				t.Errorf("%s: %d approvals, the last of %s, asks again: want %v", name, n, a.CallID, tt.again)
			}
			if end(); n == 2 {
				s.answer("deny")
			}
			if !strings.Contains(s.reads(), "outside make") {
				t.Errorf("%s: what was approved did not run: %s", name, s.reads())
			}
		})
	}
}

// If the mark can't be set, nothing runs in the sandbox.
func TestNothingRunsInsideWithoutAMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := inside(t, says("", runs("c1", "write a")), says("", puts("c2", "b")), says("ok"))
		defer s.stop()
		if err := os.WriteFile(s.opts.Policy.Unseen.Dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.do(event.Submit{Text: "go"})
		if got := s.reads(); strings.Count(got, "nothing ran") != 2 {
			t.Errorf("the model reads %q", got)
		}
	})
}
