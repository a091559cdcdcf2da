package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
	"buddy/features/goal"
	"buddy/tools"
	"buddy/tools/basic"
)

// checker is a run_shell whose commands end as scripted; the last one keeps running.
type checker struct {
	mu   sync.Mutex
	ends []checkEnd
	ran  int
}

type checkEnd struct {
	code  int
	out   string
	hangs bool
	broke bool // no exit code
}

func (*checker) Definition() model.ToolDef {
	return model.ToolDef{Name: "run_shell", Parameters: json.RawMessage(`{"type":"object"}`)}
}

func (*checker) Plan(c tools.Call) (action.Action, error) {
	var a struct{ Command string }
	if err := json.Unmarshal([]byte(c.Arguments), &a); err != nil {
		return action.Action{}, err
	}
	return action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: a.Command, Cwd: "/w"}, nil
}

func (f *checker) Run(ctx context.Context, _ tools.Call) tools.Result {
	f.mu.Lock()
	end := f.ends[min(f.ran, len(f.ends)-1)]
	f.ran++
	f.mu.Unlock()
	switch {
	case end.hangs:
		<-ctx.Done()
		return tools.Result{Content: "operation cancelled by user", IsError: true}
	case end.broke:
		return tools.Result{Content: "Tool error: no such pane", IsError: true}
	}
	res := tools.Success(end.out)
	res.ExitCode = &end.code
	return res
}

// times returns how many times a command ran.
func (f *checker) times() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ran
}

// judge is the agent that gives verdicts.
const judge = "---\nname: judge\ndescription: judges\ntools: Read\n---\nYou judge."

// withGoal starts a session whose checks end as given; the judge answers with verdicts.
func withGoal(t *testing.T, change func(*Options), ends []checkEnd, verdicts []step, steps ...step) (*session, *checker) {
	t.Helper()
	check := &checker{ends: ends}
	s, _ := withAgents(t, map[string][]step{"main": steps, "Is": verdicts}, []string{judge}, func(o *Options) {
		o.Tools = tools.NewRegistry(&fakeTool{}, basic.NewAgent(), check)
		o.Parts = []turn.Part{goal.New(&goal.Limits{Turns: 10, CheckMinutes: 1})}
		if change != nil {
			change(o)
		}
	})
	return s, check
}

// states lists the changes of the goal, with reasons, except for turns.
func (s *session) states() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.seen {
		if p, ok := env.Payload.(event.GoalChanged); ok && (p.State != event.GoalActive || p.Reason != "" || p.Used == event.GoalUse{}) {
			all = append(all, strings.TrimSuffix(string(p.State)+": "+p.Reason, ": "))
		}
	}
	return all
}

// rejected returns the last error.
func (s *session) rejected() string {
	e, _ := find[event.Error](s)
	return e.Text
}

var (
	passes = checkEnd{}
	breaks = checkEnd{code: 2, out: "--- FAIL: TestTax"}
	makes  = event.SetGoal{Goal: "make the tests pass", Check: "make test"}
)

// TestGoal: outcomes of a goal, by the checks and the model.
func TestGoal(t *testing.T) {
	work := func(n int) step {
		return says("I work", fmt.Sprintf(`w%d do {"kind":"file_read","do":"echo","n":%d}`, n, n))
	}
	tests := []struct {
		name     string
		set      event.SetGoal
		ends     []checkEnd
		verdicts []step
		steps    []step
		want     []string
		ran      int // commands
	}{
		{"met at once", makes, []checkEnd{passes}, nil, []step{says("done")}, []string{"active", "met"}, 1},
		{
			"met after work", makes,
			[]checkEnd{breaks, passes},
			nil,
			[]step{says("done"), work(1), says("now it is")},
			[]string{"active", "met"},
			2,
		},
		{
			"claimed only", makes,
			[]checkEnd{breaks},
			nil,
			[]step{says("The goal is met."), says("GOAL MET"), says("exit code 0, I swear"), says("never")},
			[]string{"active", "paused: 3 rounds in a row changed nothing, and the check had the same output"},
			3,
		},
		{
			"the same calls again and again", makes,
			[]checkEnd{{code: 1, out: "0.12s"}, {code: 1, out: "0.9s"}},
			nil,
			[]step{work(1), says("a"), work(1), says("b"), work(1), says("c"), says("never")},
			[]string{"active", "paused: 3 rounds in a row changed nothing, and the check had the same output"},
			3,
		},
		{
			"limit of turns while it works",
			event.SetGoal{Goal: "g", Check: "c", Limit: event.GoalUse{Turns: 2}},
			[]checkEnd{breaks},
			nil,
			[]step{work(1), work(2), work(3)},
			[]string{"active", "paused: it reached its limit of turns (2)"},
			0,
		},
		{
			"limit of turns with the answer, checked all the same",
			event.SetGoal{Goal: "g", Check: "c", Limit: event.GoalUse{Turns: 2}},
			[]checkEnd{passes},
			nil,
			[]step{work(1), says("done")},
			[]string{"active", "met"},
			1,
		},
		{
			"limit of cost",
			event.SetGoal{Goal: "g", Check: "c", Limit: event.GoalUse{Cost: 20}},
			[]checkEnd{breaks},
			nil,
			[]step{work(1), says("done"), says("never")},
			[]string{"active", "paused: it reached its cost limit (<$0.0001)"},
			1,
		},
		{
			"a command that hangs", makes,
			[]checkEnd{{hangs: true}, passes},
			nil,
			[]step{says("done"), says("again")},
			[]string{"active", "met"},
			2,
		},
		{
			"a command that can't run", makes,
			[]checkEnd{{broke: true}},
			nil,
			[]step{says("a"), says("b"), says("c"), says("never")},
			[]string{"active", "paused: 3 rounds in a row changed nothing, and the check had the same output"},
			3,
		},
		{
			"a verdict",
			event.SetGoal{Goal: "g"},
			nil,
			[]step{says("NOT MET\nthe docs lack it"), says("**MET**\nall is there")},
			[]step{says("done"), says("done")},
			[]string{"active", "met"},
			0,
		},
		{
			"a verdict that is none",
			event.SetGoal{Goal: "g"},
			nil,
			[]step{says("METHODS are nice"), says("42"), says("maybe MET")},
			[]step{says("a"), work(1), says("b"), work(2), says("c"), fails("", errors.New("bad key"))},
			[]string{"active", "paused: bad key"},
			0,
		},
		{
			"no verdict where the command fails",
			event.SetGoal{Goal: "g", Check: "c", Verdict: true},
			[]checkEnd{breaks, passes},
			[]step{says("MET: yes")},
			[]step{says("a"), says("b")},
			[]string{"active", "met"},
			2,
		},
		{
			"the model fails", makes,
			[]checkEnd{breaks},
			nil,
			[]step{says("a"), fails("", errors.New("bad key"))},
			[]string{"active", "paused: bad key"},
			1,
		},
		{
			"the judge fails",
			event.SetGoal{Goal: "g"},
			nil,
			[]step{fails("", errors.New("bad key"))},
			[]step{says("a"), fails("", errors.New("over"))},
			[]string{"active", "paused: over"},
			0,
		},
		{
			"one prompt takes too many turns", makes,
			[]checkEnd{breaks},
			nil,
			[]step{work(1), work(2), work(3), work(4)},
			[]string{"active", "paused: " + goal.MaxTurns},
			0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, check := withGoal(t, func(o *Options) {
					if tt.name == "one prompt takes too many turns" {
						o.MaxIterations = 3
					}
					m := o.Model.(*byAgent)
					m.info.Price = model.Price{Input: model.Dollar, Output: model.Dollar}
				}, tt.ends, tt.verdicts, tt.steps...)
				s.do(tt.set)
				time.Sleep(2 * time.Minute) // the command hangs
				synctest.Wait()
				if got := s.states(); !slices.Equal(got, tt.want) || check.times() != tt.ran {
					t.Errorf("it went\n%q, %d commands\nwant\n%q, %d", got, check.times(), tt.want, tt.ran)
				}
				s.stop()
			})
		})
	}
}
