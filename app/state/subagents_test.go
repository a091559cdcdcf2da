package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
)

// testSession is a session with the events that a test applied.
type testSession struct {
	s   State
	all []event.Envelope
}

func (x *testSession) apply(branch, task int, p event.Event) {
	env := event.Envelope{Seq: uint64(len(x.all) + 1), Time: int64(len(x.all)), Session: "s", Branch: branch, Task: task, Payload: p}
	x.all = append(x.all, env)
	x.s.Apply(env)
}

// calls makes a conversation call an agent, whose conversation is another branch.
func (x *testSession) calls(branch, task int, call string, to, sub int, background bool) {
	x.apply(branch, task, event.ToolRequested{CallID: call, Name: "agent", Arguments: "{}"})
	x.apply(branch, task, event.ToolStarted{CallID: call, Name: "agent"})
	x.apply(0, 0, event.BranchStarted{Branch: to, FromBranch: branch, Why: event.ForSubagent})
	x.apply(to, sub, event.PromptSubmitted{ID: sub, Text: fmt.Sprint("prompt of ", sub)})
	x.apply(to, sub, event.TaskStarted{ID: sub, Kind: event.SubagentTask, Title: "look", Agent: "explore", Parent: task, Call: call, Background: background})
}

func (x *testSession) turn(branch, task, tokens int, cost model.Money) {
	x.apply(branch, task, event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: fmt.Sprint("said by ", task)}})
	x.apply(branch, task, event.TurnFinished{Usage: &model.Usage{Prompt: tokens}, Cost: cost})
}

// nested is a session in which an agent calls another, whose call ids equal those of the first, and asks for approval.
func nested() *testSession {
	x := &testSession{}
	x.apply(0, 0, event.SessionCreated{Cwd: "/p", Target: "local"})
	x.apply(0, 1, event.PromptSubmitted{ID: 1, Text: "go"})
	x.apply(0, 1, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "go"})
	x.calls(0, 1, "call_1", 1, 2, false)
	x.turn(1, 2, 10, 1)
	x.calls(1, 2, "call_1", 2, 3, true)
	x.turn(2, 3, 100, 10)
	x.apply(2, 3, event.ToolRequested{CallID: "call_1", Name: "run_shell", Arguments: `{"command":"rm"}`})
	x.apply(2, 3, event.ApprovalAsked{ID: "a", CallID: "call_1", Action: action.Action{Command: "rm"}, Agent: "explore: look"})
	return x
}

func textsOf(s *State) string {
	var all []string
	for _, b := range s.Blocks {
		if b.Call != nil {
			all = append(all, b.Call.Name)
			continue
		}
		all = append(all, string(b.Text))
	}
	return strings.Join(all, "|")
}

// A subagent's texts and calls are in its conversation alone; its requests, tokens and cost belong to the session and
// are added to those of its caller.
func TestSubagentsHaveTheirOwnConversations(t *testing.T) {
	x := nested()
	s := &x.s
	if got := textsOf(s); got != "go|agent" {
		t.Errorf("the main conversation is %q", got)
	}
	first, second := s.Tasks.Get(2), s.Tasks.Get(3)
	if got := textsOf(first.Agent.Talk); got != "prompt of 2|said by 2|agent" {
		t.Errorf("the first agent's is %q", got)
	}
	if got := textsOf(second.Agent.Talk); got != "prompt of 3|said by 3|run_shell" {
		t.Errorf("the second agent's is %q", got)
	}
	if s.Blocks[1].Call.Agent != first || first.Agent.Talk.Blocks[2].Call.Agent != second {
		t.Error("a call does not lead to the agent that it began")
	}
	if s.Running() != s.Tasks.Get(1) {
		t.Errorf("%+v is taken for the main task", s.Running())
	}
	if second.State != TaskWaiting || s.Tasks.Waiting("a") != second || CallOf(s, s.Approvals[0]).Name != "run_shell" {
		t.Errorf("the request is not that of the second agent: %+v", second)
	}
	if second.Label() != "explore #3" {
		t.Errorf("label %q", second.Label())
	}
	var costs []model.Money
	for _, task := range s.Tasks {
		costs = append(costs, task.Own.Cost, task.All.Cost)
	}
	if !slices.Equal(costs, []model.Money{0, 11, 1, 11, 10, 10}) {
		t.Errorf("costs, each own and with its agents: %v", costs)
	}
	x.apply(2, 3, event.ApprovalAnswered{ID: "a", CallID: "call_1", Decision: event.Deny, By: "user"})
	if c := second.Agent.Talk.Blocks[2].Call; c.State != CallDenied || s.Blocks[1].Call.State != CallRunning || len(s.Approvals) != 0 {
		t.Errorf("denied: %v; the main call: %v", c.State, s.Blocks[1].Call.State)
	}
}

// Subagents of an ended process are interrupted, at all levels, and nothing of them runs.
func TestSubagentsAreInterrupted(t *testing.T) {
	x := nested()
	x.apply(0, 0, event.SessionResumed{Cwd: "/p", Target: "local"})
	before := textsOf(&x.s)
	for branch, id := range map[int]int{1: 2, 2: 3} { // as the next process reports it
		x.apply(branch, id, event.TaskFinished{ID: id, Outcome: event.Failed, Error: "interrupted"})
	}
	if after := textsOf(&x.s); after != before {
		t.Errorf("the conversation says %q, before %q", after, before)
	}
	for _, id := range []int{2, 3} {
		task := x.s.Tasks.Get(id)
		if task.State != TaskDone || task.Outcome != record.Interrupted {
			t.Errorf("%s is %v %v", task.Label(), task.State, task.Outcome)
		}
		if c := task.Agent.Talk.Blocks[2].Call; c.State != CallCancelled {
			t.Errorf("the call of %s is %v", task.Label(), c.State)
		}
	}
	if len(x.s.Approvals) != 0 || IsSubagent(&x.s, 2) {
		t.Error("something still waits")
	}
}

// A screen that starts with the end of a session finally equals one that saw all of it, wherever the end starts.
func TestSubagentsOfATail(t *testing.T) {
	x := nested()
	x.apply(2, 3, event.ApprovalAnswered{ID: "a", CallID: "call_1", Decision: event.Deny, By: "user"})
	x.apply(2, 3, event.ToolResult{CallID: "call_1", IsError: true})
	x.apply(2, 3, event.TaskFinished{ID: 3, Outcome: event.Completed})
	x.turn(1, 2, 10, 1)
	x.apply(1, 2, event.TaskFinished{ID: 2, Outcome: event.Completed})
	x.apply(0, 1, event.ToolResult{CallID: "call_1", Result: "{}"})
	x.turn(0, 1, 5, 5)
	look := func(s *State) string {
		text := textsOf(s)
		for _, task := range s.Tasks {
			text += fmt.Sprintf("\n#%d %v %v %v", task.ID, task.State, task.Outcome, task.All)
			if task.Agent != nil {
				text += fmt.Sprint(" ", task.Agent.Parent, " ", textsOf(task.Agent.Talk))
			}
		}
		return text
	}
	want := look(&x.s)
	for at := range x.all {
		var tail, before State
		tail.ApplyTail(x.all[at:])
		if strings.Contains(textsOf(&tail), "said by 3") || strings.Contains(textsOf(&tail), "background") {
			t.Fatalf("from event %d, what an agent said is in the main conversation: %q", at, textsOf(&tail))
		}
		for _, env := range x.all[:at] {
			before.Apply(env)
		}
		tail.PrependState(&before)
		if got := look(&tail); got != want {
			t.Fatalf("from event %d:\n%s\nwant\n%s", at, got, want)
		}
	}
}

// A screen that joins while an agent works shows the agent's later texts, and its request.
func TestJoiningWhileASubagentWorks(t *testing.T) {
	x := nested()
	const at = 15 // the second agent starts before it and asks after it
	var s State
	s.ApplyTail(x.all[at:])
	var open []event.Envelope
	for _, env := range x.all[:at] {
		switch env.Payload.(type) {
		case event.SessionCreated, event.BranchStarted, event.TaskStarted, event.ToolRequested, event.ToolStarted:
			open = append(open, env)
		}
	}
	ApplyOpen(&s, open)
	if len(s.Approvals) != 1 || s.Tasks.Get(3) == nil || s.Tasks.Get(3).Agent.Parent != 2 {
		t.Fatalf("approvals %v, tasks %v", s.Approvals, s.Tasks)
	}
	s.Apply(event.Envelope{Seq: 100, Branch: 2, Task: 3, Payload: event.TextDelta{Text: "more"}})
	if got := textsOf(s.Tasks.Get(3).Agent.Talk); got != "more" {
		t.Errorf("the agent's conversation is %q", got)
	}
}

// Of very many finished tasks the newest stay, counting subagents and others separately.
func TestFinishedSubagentsAreBounded(t *testing.T) {
	x := &testSession{}
	x.apply(0, 1, event.TaskStarted{ID: 1, Kind: event.MainTask})
	for i := range maxAgents + 10 {
		x.calls(0, 1, fmt.Sprint("c", i), i+1, i+2, false)
		x.turn(i+1, i+2, 1, 1)
		x.apply(i+1, i+2, event.TaskFinished{ID: i + 2, Outcome: event.Completed})
	}
	if n := len(x.s.Tasks); n != maxAgents+1 || x.s.Tasks.Get(2) != nil || x.s.Tasks.Get(maxAgents+11) == nil {
		t.Errorf("%d tasks are listed", n)
	}
	if cost := x.s.Tasks.Get(1).All.Cost; cost != maxAgents+10 {
		t.Errorf("the sum is %d", cost)
	}
}
