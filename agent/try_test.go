package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/agent/turn"
	"buddy/tools"
)

// tries is a part that tries commands without running any. It is its own trial, and logs what happens to it.
type tries struct {
	turn.Nothing
	takes     time.Duration // of each try; every minute it asks for more time
	err       error
	conflicts []string
	keepErr   error
	log       []string
}

func (*tries) Name() string { return "try" }

func (p *tries) Try(ctx context.Context, _ tools.Call, more func(context.Context, action.Tried) bool) (turn.Trial, error) {
	p.log = append(p.log, "try")
	for left := p.takes; left > 0; left -= time.Minute {
		select {
		case <-time.After(min(left, time.Minute)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if left > time.Minute && !more(ctx, action.Tried{Running: true}) {
			return nil, context.Canceled
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return p, nil
}

func (*tries) Tried() action.Tried {
	return action.Tried{Count: 1, Output: "key hunter2-hunter2", Files: []action.TriedFile{{Path: "a", Preview: "+hunter2-hunter2"}}}
}
func (p *tries) Conflicts() ([]string, error) { return p.conflicts, nil }

func (p *tries) Began() time.Time   { return time.Now() }
func (p *tries) Keep() error        { p.log = append(p.log, "keep"); return p.keepErr }
func (*tries) Result() tools.Result { return tools.Success("tried output") }
func (p *tries) Discard() error     { p.log = append(p.log, "discard"); return nil }

func (p *tries) Around(context.Context, turn.Access, *tools.Call) func(context.Context, *turn.Ran) {
	p.log = append(p.log, "before")
	return func(context.Context, *turn.Ran) { p.log = append(p.log, "after") }
}

// triedTool is run_shell, which logs its runs in those of the part.
type triedTool struct {
	insideTool
	part *tries
}

func (t *triedTool) Plan(c tools.Call) (action.Action, error) {
	a, err := t.insideTool.Plan(c)
	a.Tool = "run_shell"
	return a, err
}

func (t *triedTool) Run(context.Context, tools.Call) tools.Result {
	t.part.log = append(t.part.log, "run")
	return tools.Success("real output")
}

// trying starts a session that has asked about a command.
func trying(t *testing.T, p *tries) *session {
	t.Helper()
	s := start(t, func(o *Options) {
		o.Tools, o.Parts, o.Redact = tools.NewRegistry(&triedTool{insideTool{dir: t.TempDir()}, p}), []turn.Part{p}, redact.New("hunter2-hunter2")
		o.Policy.Fence, o.Policy.Tries = func() error { return nil }, func() error { return nil }
		o.Target = "local"
	}, says("", runs("c1", "make all")), says("ok"))
	s.do(event.Submit{Text: "go"})
	return s
}

// A command is tried before the person decides: keeping takes the place of the run, and the model reads nothing of a
// try that was thrown away.
func TestTryingACommand(t *testing.T) {
	deny := event.AnswerApproval{Decision: event.Deny, Reason: "not so"}
	answer := func(all ...event.Decision) (answers []event.AnswerApproval) {
		for _, d := range all {
			answers = append(answers, event.AnswerApproval{Decision: d})
		}
		return answers
	}
	denied := "Command execution denied by user. Reason: not so"
	for name, c := range map[string]struct {
		part    tries
		answers []event.AnswerApproval
		log     string
		reads   string
	}{
		"kept":           {tries{}, answer(event.Try, event.Keep), "try before keep discard after", "tried output"},
		"run for real":   {tries{}, answer(event.Try, event.Once), "try discard before run after", "real output"},
		"thrown away":    {tries{}, append(answer(event.Try), deny), "try discard", denied},
		"impossible":     {tries{err: errors.New("no place")}, append(answer(event.Try), deny), "try", denied},
		"not kept":       {tries{keepErr: errors.New("nothing was kept: a full disk")}, answer(event.Try, event.Keep), "try before keep discard after", "Tool error: the user wanted to keep the changes of a try of this command, but: nothing was kept: a full disk"},
		"a conflict":     {tries{conflicts: []string{"a.go"}}, append(answer(event.Try, event.Keep, event.Try), deny), "try discard try discard", denied},
		"no conflict":    {tries{conflicts: []string{"a.go"}}, answer(event.Try, event.Keep, event.Keep, event.Once), "try discard before run after", "real output"},
		"waited for":     {tries{takes: 90 * time.Second}, answer(event.Try, event.Try, event.Keep), "try before keep discard after", "tried output"},
		"not waited for": {tries{takes: 90 * time.Second}, append(answer(event.Try), deny), "try", denied},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := trying(t, &c.part)
				defer s.stop()
				for _, a := range c.answers {
					a.ID = s.asked()
					s.do(a)
					time.Sleep(61 * time.Second)
					synctest.Wait()
				}
				if got := strings.Join(c.part.log, " "); got != c.log {
					t.Errorf("happened: %s", got)
				}
				if got := s.reads(); got != c.reads {
					t.Errorf("the model reads %q", got)
				}
				_, applying := find[event.EffectApplying](s)
				_, applied := find[event.EffectApplied](s)
				if kept := slices.Contains(c.part.log, "keep"); (applying == 1) != kept || (applied == 1) != (kept && c.part.keepErr == nil) {
					t.Errorf("%d and %d events about keeping", applying, applied)
				}
			})
		})
	}
}

// The request after a try shows no secrets and offers no rule, and its answers have to fit.
func TestAnswersToATry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &tries{}
		s := trying(t, p)
		defer s.stop()
		first := s.asked()
		if a, _ := find[event.ApprovalAsked](s); !a.Context.Try.Offered || a.Context.Similar == "" {
			t.Fatalf("asked %+v", a.Context)
		}
		s.do(event.AnswerApproval{ID: first, Decision: event.Keep}, event.AnswerApproval{ID: first, Decision: event.Try, Nobody: true})
		if _, n := find[event.Error](s); n != 2 || len(p.log) > 0 {
			t.Fatalf("%d rejected answers, happened: %q", n, p.log)
		}
		s.do(event.AnswerApproval{ID: first, Decision: event.Try})
		a, _ := find[event.ApprovalAsked](s)
		if tried := a.Context.Tried; a.ID == first || tried == nil || strings.Contains(tried.Output+tried.Files[0].Preview, "hunter2") || a.Context.Similar != "" {
			t.Fatalf("asked %+v", a.Context)
		}
		s.do(event.SetMode{Mode: action.ModeAll}, event.AnswerApproval{ID: a.ID, Decision: event.Try})
		if got := s.reads(); got != "" {
			t.Errorf("the model reads %q before the person has decided", got)
		}
		s.do(event.Cancel{})
		if got := strings.Join(p.log, " "); got != "try discard" {
			t.Errorf("after cancelling, happened: %s", got)
		}
	})
}
