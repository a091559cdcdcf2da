package state

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"buddy/agent/event"
)

// The list of steps is the approved plan's until the model writes a new one; it survives the process, and disappears
// when its prompt is answered.
func TestStepsFollowThePlanAndTheModel(t *testing.T) {
	wrote := func(list string) event.Event {
		return event.ToolResult{CallID: "c", Name: "todo", Result: "{}", Tail: list}
	}
	changed := func(steps ...event.TodoStep) event.Event { return event.TodoChanged{Steps: steps} }
	fix := Steps{{"reproduce", StepDone}, {"fix", StepWorking}, {"run all", StepOpen}}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   Steps
	}{
		{"approved", []event.Event{event.PlanExited{Approved: true, Plan: "p", Steps: []event.PlanStep{{Description: "a"}, {Description: "b"}}}}, Steps{{Text: "a"}, {Text: "b"}}},
		{"discarded", []event.Event{wrote("[ ] a\n"), event.PlanExited{}}, Steps{{Text: "a"}}},
		{"written", []event.Event{wrote("[x] reproduce\n[>] fix\n[ ] run all\n")}, fix},
		{"changed", []event.Event{changed(event.TodoStep{Text: "reproduce", State: event.TodoCompleted}, event.TodoStep{Text: "fix", State: event.TodoInProgress}, event.TodoStep{Text: "run all", State: event.TodoPending})}, fix},
		{"written and changed", []event.Event{wrote("[x] reproduce\n[>] fix\n[ ] run all\n"), changed(event.TodoStep{Text: "run all", State: event.TodoPending})}, Steps{{Text: "run all"}}},
		{"resumed", []event.Event{wrote("[x] reproduce\n[>] fix\n[ ] run all\n"), event.SessionResumed{}}, fix},
		{"a prompt while some are open", []event.Event{wrote("[x] a\n[ ] b\n"), event.PromptSubmitted{ID: 2, Text: "go on"}}, Steps{{"a", StepDone}, {Text: "b"}}},
		{"all done", []event.Event{wrote("[x] a\n")}, Steps{{"a", StepDone}}},
		{"the prompt is answered", []event.Event{event.TaskStarted{ID: 1, Kind: event.MainTask}, wrote("[x] a\n"), event.TaskFinished{ID: 1, Outcome: event.Completed}}, nil},
		{"answered with some open", []event.Event{event.TaskStarted{ID: 1, Kind: event.MainTask}, wrote("[ ] a\n"), event.TaskFinished{ID: 1, Outcome: event.Completed}}, nil},
		{"interrupted", []event.Event{event.TaskStarted{ID: 1, Kind: event.MainTask}, wrote("[ ] a\n"), event.TaskFinished{ID: 1, Outcome: event.Cancelled}}, Steps{{Text: "a"}}},
		{"a command ended", []event.Event{event.TaskStarted{ID: 1, Kind: event.ShellTask}, wrote("[ ] a\n"), event.TaskFinished{ID: 1, Outcome: event.Completed}}, Steps{{Text: "a"}}},
		{"emptied", []event.Event{wrote("[ ] a\n"), wrote("")}, nil},
		{"failed", []event.Event{wrote("[ ] a\n"), event.ToolResult{CallID: "c", Name: "todo", IsError: true, Tail: "[ ] b\n"}}, Steps{{Text: "a"}}},
		{"of another tool", []event.Event{event.ToolResult{CallID: "c", Name: "run_shell", Tail: "[ ] b\n"}}, nil},
		{"signs in a text", []event.Event{wrote("[ ] [x] a\nb\n")}, Steps{{Text: "[x] a"}}},
	} {
		var s State
		for i, e := range tt.events {
			s.Apply(event.Envelope{Seq: uint64(i) + 1, Time: 1, Payload: e})
		}
		if !reflect.DeepEqual(s.Steps, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, s.Steps, tt.want)
		}
	}
}

// A subagent's list belongs to its conversation.
func TestStepsOfASubagentAreItsOwn(t *testing.T) {
	var s State
	for i, env := range []event.Envelope{
		{Payload: event.TaskStarted{ID: 1, Kind: event.MainTask}},
		{Payload: event.BranchStarted{Branch: 1, Why: event.ForSubagent}},
		{Branch: 1, Task: 2, Payload: event.TaskStarted{ID: 2, Kind: event.SubagentTask, Agent: "explore", Parent: 1}},
		{Branch: 1, Task: 2, Payload: event.ToolResult{Name: "todo", Tail: "[>] look\n"}},
	} {
		env.Seq = uint64(i) + 1
		s.Apply(env)
	}
	if own := s.Tasks.Get(2).Agent.Talk.Steps; len(s.Steps) != 0 || len(own) != 1 {
		t.Errorf("the session has %v, its agent %v", s.Steps, own)
	}
}

func TestCurrentStep(t *testing.T) {
	for want, s := range map[int]Steps{
		-1: nil,
		1:  {{State: StepDone}, {State: StepOpen}, {State: StepOpen}},
		2:  {{State: StepOpen}, {State: StepDone}, {State: StepWorking}},
		0:  {{State: StepDone}},
	} {
		if got := s.Current(); got != want {
			t.Errorf("%v: %d, want %d", s, got, want)
		}
	}
}

// The progress of an unfinished list stays in the conversation when its prompt is answered, unless the list was never
// started.
func TestUnfinishedChecklistIsInTheConversation(t *testing.T) {
	for list, want := range map[string]string{"[x] a\n[>] b\n[ ] c\n": "plan 1/3  ☑ a  ◐ b  ☐ c", "[ ] a\n[ ] b\n": "p"} {
		s := &script{}
		s.add(1, event.PromptSubmitted{ID: 1, Text: "p"}, event.TaskStarted{ID: 1, Kind: event.MainTask},
			event.ToolRequested{CallID: "c", Name: "todo"}, event.ToolResult{CallID: "c", Name: "todo", Result: "{}", Tail: list},
			event.TaskFinished{ID: 1, Outcome: event.Completed})
		live := replay(s.envs)
		if got := string(live.Blocks[len(live.Blocks)-1].Text); got != want {
			t.Errorf("the last block is %q, want %q", got, want)
		}
		for cut := 1; cut < len(s.envs); cut++ {
			tail := replayTail(s.envs[cut:])
			tail.Prepend(s.envs[:cut])
			wantSame(t, fmt.Sprintf("from the end at %d", cut), tail, live)
		}
	}
}

// TestChecklistIsInTheConversationAtItsEndOnly: writing the list leaves no block, finishing it leaves one, and so does
// a list that could not be written. A stored session shows the same.
func TestChecklistIsInTheConversationAtItsEndOnly(t *testing.T) {
	s := &script{}
	wrote := func(id, list string) []event.Event {
		return []event.Event{event.ToolRequested{CallID: id, Name: "todo"}, event.ToolStarted{CallID: id, Name: "todo"}, event.ToolResult{CallID: id, Name: "todo", Result: "{}", Tail: list}}
	}
	s.add(1, event.PromptSubmitted{ID: 1, Text: "p"})
	s.add(1, wrote("a", "[x] reproduce\n[>] fix\n")...)
	s.add(1, event.ToolRequested{CallID: "b", Name: "todo"}, event.ToolResult{CallID: "b", Name: "todo", IsError: true, Result: "Tool error: no steps"})
	s.add(1, wrote("c", "[x] reproduce\n[x] fix\n")...)
	s.add(1, wrote("d", "[x] reproduce\n[x] fix\n")...)
	live := replay(s.envs)
	var got []string
	for _, b := range live.Blocks {
		got = append(got, fmt.Sprint(b.Kind, " ", string(b.Text)))
	}
	if want := []string{"1 p", "4 ", "5 plan 2/2  ☑ reproduce  ☑ fix"}; !slices.Equal(got, want) {
		t.Errorf("blocks %q, want %q", got, want)
	}
	wantSame(t, "read back", replay(durable(s.envs)), live)
	for cut := 1; cut < len(s.envs); cut++ {
		tail := replayTail(s.envs[cut:])
		tail.Prepend(s.envs[:cut])
		wantSame(t, fmt.Sprintf("from the end at %d", cut), tail, live)
	}
}
