package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
	"buddy/tools/basic"
)

// lastingTool is a command that outlives buddy: its call waits for the end.
type lastingTool struct {
	longTool
	on   []string // its targets; empty is the first one
	mu   sync.Mutex
	was  []string // revived tasks
	work map[int]*longTool
}

func (l *lastingTool) Plan(tools.Call) (action.Action, error) {
	act := action.Action{Kind: action.Shell, Tool: "run_shell", Command: "make\nall"}
	for _, name := range l.on {
		act.Targets = append(act.Targets, action.TargetCwd{Target: name})
	}
	return act, nil
}

func (*lastingTool) Run(ctx context.Context, _ tools.Call) tools.Result {
	<-ctx.Done()
	return tools.Result{Content: "killed", IsError: true}
}

func (l *lastingTool) Revive(_ context.Context, id int, was tools.Task) (tools.Task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.was = append(l.was, fmt.Sprintf("%d %s %s%s", id, was.Title, was.Pane, was.Dir))
	slices.Sort(l.was)
	if l.lost {
		return tools.Task{}, errors.New("lost")
	}
	long := &longTool{done: make(chan struct{})}
	if l.work == nil {
		l.work = make(map[int]*longTool)
	}
	l.work[id] = long
	return long.task(), nil
}

// killedWith returns the journal of a session that was killed while an agent's command ran.
func killedWith(t *testing.T, l *lastingTool) (stored []event.Envelope, dir string) {
	t.Helper()
	s, _ := withAgents(t, map[string][]step{
		"main": {says("", callsAgent("a1", "worker", "one", ""))},
		"one":  {says("", "c1 run_shell {}", `c2 do {"kind":"shell","do":"echo"}`)},
	}, []string{worker}, func(o *Options) {
		o.Mode = action.ModeAll
		o.Tools = tools.NewRegistry(l, &fakeTool{}, basic.NewAgent())
	})
	s.do(event.Submit{Text: "go"})
	stored = slices.Clone(s.mem.events)
	began, n := find[event.ToolStarted](s)
	if n != 2 || began.Name != "run_shell" { // the agent's, then its command
		t.Fatalf("%d calls began, %+v", n, began)
	}
	s.stop()
	return stored, began.Dir
}

// TestCommandOfAnInterruptedAgent: an agent's command that outlives a kill is a task of the next process: it can be
// ended, its end is reported to the person and the main agent, even after another kill, and a call that had not
// started is not reported as interrupted.
func TestCommandOfAnInterruptedAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		killed, dir := killedWith(t, &lastingTool{})
		var again *session
		var m *byAgent
		var l *lastingTool
		for range 2 { // the second process is killed, too
			if again != nil {
				again.stop()
			}
			l = &lastingTool{}
			again, m = withAgents(t, map[string][]step{"main": {says("I look"), says("I see")}}, []string{worker}, func(o *Options) {
				o.Replay, o.Tools = killed, tools.NewRegistry(l, &fakeTool{}, basic.NewAgent())
			})
			killed = slices.Concat(killed, again.mem.events)
			if len(l.was) != 1 || !strings.HasPrefix(l.was[0], "3 make all ") || !strings.HasSuffix(l.was[0], dir) {
				t.Fatalf("revived %q, want task 3 in %s", l.was, dir)
			}
		}
		if r := again.shells.list(); len(r) != 1 || r[0].ID != 3 || r[0].Title != "npm run dev" || r[0].State != "" {
			t.Errorf("tasks: %v", r)
		}
		results := map[string]string{}
		for _, env := range killed {
			if p, ok := env.Payload.(event.ToolResult); ok && env.Branch == 1 {
				results[p.CallID] = p.Result
			}
		}
		if results["c1"] != "interrupted: buddy ended while this ran; it is now task 3" || !strings.HasPrefix(results["c2"], "Not run: ") {
			t.Errorf("results in the agent's conversation: %q", results)
		}
		again.do(event.Continue{})
		if text := fmt.Sprint(m.sent("main")); strings.Contains(text, "is lost") {
			t.Errorf("the main agent is told %s", text)
		}
		again.do(event.Cancel{Task: 3})
		if end, _ := find[event.TaskFinished](again); !l.work[3].stopped.Load() || end != (event.TaskFinished{ID: 3, Outcome: event.Cancelled}) {
			t.Errorf("stopped %v, end %+v", l.work[3].stopped.Load(), end)
		}
		again.do(event.Submit{Text: "and?"})
		if n := countIn(m.sent("main")[1], "Task 3, which run_shell left running, was cancelled."); n != 1 {
			t.Errorf("the main agent reads the end %d times", n)
		}
		again.stop()
	})
}

// TestMainAgentIsToldOfAnAdoptedCommand: the main agent learns whose command it was and its task, or that it is lost.
func TestMainAgentIsToldOfAnAdoptedCommand(t *testing.T) {
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			killed, dir := killedWith(t, &lastingTool{on: []string{"web", "db"}})
			l := &lastingTool{longTool: longTool{lost: lost}}
			again, m := withAgents(t, map[string][]step{"main": {says("I look")}}, []string{worker}, func(o *Options) {
				o.Replay, o.Tools = killed, tools.NewRegistry(l, &fakeTool{}, basic.NewAgent())
			})
			if want := []string{"3 make all web:" + dir + "/web", "4 make all db:" + dir + "/db"}; !slices.Equal(l.was, want) {
				t.Errorf("revived %q, want %q", l.was, want)
			}
			ends := map[int]string{}
			for _, env := range again.events() {
				if p, ok := env.Payload.(event.TaskFinished); ok {
					ends[p.ID] = p.Error
				}
			}
			if lost != (ends[3] == errUnknownEnd && ends[4] == errUnknownEnd) || ends[2] != errAgentInterrupted.Error() {
				t.Errorf("lost %v: ends %v", lost, ends)
			}
			again.do(event.Continue{})
			first := m.sent("main")[0]
			if n := countIn(first, "A command of the interrupted agent worker (task 2) is now task 3, task 4; you get a message when it ends. The command: make all"); n != 1 {
				t.Errorf("told %d times: %+v", n, first.Messages)
			}
			if n := countIn(first, "Task 3 is lost"); lost != (n == 1) {
				t.Errorf("lost %v, told %d times", lost, n)
			}
			again.stop()
		})
	}
}

// TestResumedAgentsHaveNoMoreRights: agents in mode all when buddy was killed do nothing more in the next process,
// whatever its mode; agents called later have its mode and model, and choices of the person before the kill do not
// apply.
func TestResumedAgentsHaveNoMoreRights(t *testing.T) {
	for _, tt := range []struct {
		mode action.Mode // of the second process
		asks bool
		want string
	}{
		{"", true, "denied by user"},
		{action.ModePlan, false, "Denied by the policy"},
		{action.ModeAll, false, "done n1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ran, after := &fakeTool{}, &fakeTool{}
			first, _ := withAgents(t, map[string][]step{
				"main": {says("", callsAgent("a1", "worker", "one", `,"background":true`), callsAgent("a2", "worker", "two", "")), hangs("I wait")},
				"one":  {says("", `c1 do {"kind":"shell","do":"hang"}`)},
				"two":  {says("", `c2 do {"kind":"shell","do":"echo"}`), hangs("thinking")},
			}, []string{worker}, func(o *Options) { o.Tools = tools.NewRegistry(ran, basic.NewAgent()) })
			first.do(event.SetMode{Mode: action.ModeAll}, event.Submit{Text: "go"})
			killed := slices.Clone(first.mem.events)
			if len(ran.ran) != 2 {
				t.Errorf("before the kill ran %q", ran.ran)
			}
			first.stop()

			other := &byAgent{requests: make(map[string][]model.Request), scripts: map[string][]step{
				"main": {says("", callsAgent("a3", "worker", "new", "")), says("end")},
				"new":  {says("", `n1 do {"kind":"shell","do":"echo"}`), says("end")},
			}}
			again, m := withAgents(t, nil, []string{worker}, func(o *Options) {
				o.Replay, o.Mode, o.ModeAsked = killed, tt.mode, tt.mode != ""
				o.Tools = tools.NewRegistry(after, basic.NewAgent())
				o.Models = func(string, string) (model.Model, error) { return other, nil }
			})
			if len(after.ran) != 0 || len(m.requests) != 0 || len(again.tasks.forks) != 0 {
				t.Errorf("mode %q: ran %q, %d asked a model, %d work", tt.mode, after.ran, len(m.requests), len(again.tasks.forks))
			}
			again.do(event.SwitchModel{Profile: "other"}, event.Submit{Text: "go on"})
			asked, n := find[event.ApprovalAsked](again)
			if (n == 1) != tt.asks {
				t.Errorf("mode %q: asks %d times", tt.mode, n)
			}
			if tt.asks {
				again.do(event.AnswerApproval{ID: asked.ID, Decision: event.Deny})
			}
			if got := fmt.Sprint(other.results("new")); len(m.requests) != 0 || !strings.Contains(got, tt.want) {
				t.Errorf("mode %q: %d asked the model of the start; the call gave %s", tt.mode, len(m.requests), got)
			}
			again.stop()
		})
	}
}
