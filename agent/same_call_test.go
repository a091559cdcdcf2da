package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/tools"
)

// failingShell is a shell in which every command fails, except those with ok.
type failingShell struct{ pretendShell }

func (f *failingShell) Run(_ context.Context, c tools.Call) tools.Result {
	f.ran = append(f.ran, c.ID)
	exit := 1
	if strings.Contains(c.Arguments, "ok") {
		exit = 0
	}
	return tools.Result{Content: fmt.Sprintf(`{"exit_code":%d,"at":%d}`, exit, len(f.ran)), ExitCode: &exit, Tail: "No such file"}
}

func (f *failingShell) Plan(c tools.Call) (action.Action, error) {
	act, err := f.pretendShell.Plan(c)
	act.Mutation = !strings.Contains(c.Arguments, "look")
	return act, err
}

// shellCalls returns answers that call run_shell, one command each.
func shellCalls(commands ...string) (all []step) {
	for i, c := range commands {
		all = append(all, says("", fmt.Sprintf(`c%d run_shell {"command":%q}`, i, c)))
	}
	return all
}

// A command that fails in the same way runs four times, with a hint at the third. The person decides about the fifth.
func TestSameFailingCommand(t *testing.T) {
	same := func(n int) []step { return shellCalls(strings.Split(strings.Repeat("cat x|", n-1)+"cat x", "|")...) }
	for _, tt := range []struct {
		name    string
		steps   []step
		answer  string // "": nobody is asked
		ran     int
		hints   string
		outcome event.Outcome
	}{
		{"four times", same(4), "", 4, "--h-", event.Completed},
		{"try again", same(5), "Yes, try again", 5, "--h--", event.Completed},
		{"stop", same(5), "No, stop", 4, "--h-", event.Cancelled},
		{"something else", same(5), "read y", 4, "--h--", event.Completed},
		{"another command works in between", shellCalls("cat x", "cat x", "make ok", "cat x", "cat x", "cat x"), "", 6, "-----h", event.Completed},
		{"another command reads in between", shellCalls("cat x", "cat x", "look ok", "cat x", "cat x", "cat x"), "Yes, try again", 6, "---h--", event.Completed},
		{"others fail in between", shellCalls("cat x", "cat y", "cat x", "cat y", "cat x"), "", 5, "----h", event.Completed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shell := &failingShell{}
				s := start(t, func(o *Options) { o.Tools, o.Mode = tools.NewRegistry(shell), action.ModeAll }, append(tt.steps, says("ok"))...)
				s.do(event.Submit{Text: "go"})
				q, n := find[event.QuestionAsked](s)
				if (n == 1) != (tt.answer != "") || n == 1 && (q.From != "buddy" || !strings.Contains(q.Text, "cat x") || !strings.Contains(q.Text, "No such file")) {
					t.Fatalf("%d questions, the last %+v", n, q)
				}
				if n == 1 {
					s.do(event.Answer{ID: q.ID, Text: tt.answer})
				}
				if got := hinted(s); got != tt.hints || len(shell.ran) != tt.ran {
					t.Errorf("hints at %s, ran %v: %q", got, shell.ran, s.results())
				}
				if f, _ := find[event.TaskFinished](s); f.Outcome != tt.outcome {
					t.Errorf("outcome %+v", f)
				}
				if last := s.results()[len(s.results())-1]; tt.answer == "read y" && !strings.HasSuffix(last, "The user says: read y") {
					t.Errorf("the model read %q", last)
				}
				s.stop()
			})
		})
	}
}

// A call of another tool that fails in the same way runs twice; the person decides about the fifth.
func TestSameFailingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []step
		for i := range 5 {
			steps = append(steps, says("", fmt.Sprintf(`c%d do {"kind":"file_read","do":"fail"}`, i)))
		}
		s := start(t, nil, append(steps, says("ok"))...)
		s.do(event.Submit{Text: "go"})
		q, n := find[event.QuestionAsked](s)
		if n != 1 || len(s.tool.ran) != 2 || !strings.Contains(q.Text, "it broke") {
			t.Fatalf("%d questions, ran %v: %+v", n, s.tool.ran, q)
		}
		s.do(event.Answer{ID: q.ID, Text: "Yes, try again"})
		if f, _ := find[event.TaskFinished](s); f.Outcome != event.Completed || len(s.tool.ran) != 3 {
			t.Errorf("outcome %+v, ran %v", f, s.tool.ran)
		}
		s.stop()
	})
}
