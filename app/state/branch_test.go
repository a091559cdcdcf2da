package state

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
)

// A fork shows as a task, and its answer when it has ended.
func TestBranch(t *testing.T) {
	var s State
	seq := uint64(0)
	tell := func(branch, task int, p event.Event) {
		seq++
		s.Apply(event.Envelope{Seq: seq, Branch: branch, Task: task, Payload: p})
	}
	say := func(text string) event.ModelMessage {
		return event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: text}}
	}
	tell(0, 1, event.PromptSubmitted{ID: 1, Text: "main"})
	tell(0, 1, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "main"})
	tell(0, 1, event.TextDelta{Text: "half "})
	tell(0, 0, event.BranchStarted{Branch: 1})
	tell(1, 2, event.PromptSubmitted{ID: 2, Text: "side"})
	tell(1, 2, event.TaskStarted{ID: 2, Kind: event.BackgroundTask, Title: "side"})
	tell(1, 2, event.TextDelta{Text: "hidden"})
	tell(1, 2, event.ContextUsage{Estimated: 77})
	tell(1, 2, event.ToolRequested{CallID: "c", Name: "x", Arguments: "{}"})
	if c := s.Call("c"); c == nil || c.Arguments != "{}" {
		t.Errorf("the call is %+v: a person can't change it", c)
	}
	tell(1, 2, event.ApprovalAsked{ID: "a", CallID: "c", Action: action.Action{Command: "rm"}})
	if len(s.Approvals) != 1 || s.Tasks[1].State != TaskWaiting || s.Info.Context.Estimated != 0 {
		t.Errorf("approvals %+v, tasks %+v", s.Approvals, s.Tasks[1])
	}
	tell(1, 2, event.ApprovalAnswered{ID: "a", CallID: "c", Decision: event.Once})
	tell(1, 2, event.ToolResult{CallID: "c"})
	if s.Call("c") != nil {
		t.Error("the call is still known after its result")
	}
	tell(1, 2, say("first"))
	tell(1, 2, say("the answer"))
	if s.Running().ID != 1 {
		t.Errorf("running: %+v", s.Running())
	}
	tell(1, 2, event.TaskFinished{ID: 2, Outcome: event.Completed})
	tell(0, 1, event.TextDelta{Text: "whole"})
	tell(0, 1, event.TaskFinished{ID: 1, Outcome: event.Completed})
	var got []string
	for _, b := range s.Blocks {
		got = append(got, fmt.Sprint(b.Kind, " ", string(b.Text)))
	}
	want := "1 main|2 half whole|5 task #2 in the background completed: side|2 the answer"
	if strings.Join(got, "|") != want {
		t.Errorf("blocks %q, want %q", got, want)
	}
	tell(2, 3, event.TaskStarted{ID: 3, Kind: event.BackgroundTask, Title: "other"})
	tell(2, 3, event.TaskProgress{ID: 3, Text: "summarising"})
	if s.Tasks[2].Doing != "summarising" || s.Running() != nil {
		t.Errorf("task %+v, running %+v", s.Tasks[2], s.Running())
	}
	tell(2, 3, event.TaskFinished{ID: 3, Outcome: event.Failed, Error: "no service"})
	if b := s.Blocks[len(s.Blocks)-1]; b.Kind != ErrorBlock || !strings.Contains(string(b.Text), "other · no service") {
		t.Errorf("the last block is %+v", b)
	}
}

// Each task waits for its own requests only.
func TestTasksWaitForTheirOwnRequests(t *testing.T) {
	var s State
	tell := func(task int, p event.Event) { s.Apply(event.Envelope{Task: task, Payload: p}) }
	want := func(first, second TaskState) {
		t.Helper()
		if s.Tasks[0].State != first || s.Tasks[1].State != second {
			t.Errorf("states %v and %v, want %v and %v", s.Tasks[0].State, s.Tasks[1].State, first, second)
		}
	}
	tell(1, event.TaskStarted{ID: 1, Kind: event.MainTask})
	tell(2, event.TaskStarted{ID: 2, Kind: event.BackgroundTask})
	tell(1, event.ApprovalAsked{ID: "a1", CallID: "c1"})
	tell(2, event.ApprovalAsked{ID: "a2", CallID: "c2"})
	tell(2, event.QuestionAsked{ID: "q2", Text: "which?"})
	want(TaskWaiting, TaskWaiting)
	tell(1, event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once})
	want(TaskRunning, TaskWaiting)
	tell(2, event.ApprovalAnswered{ID: "a2", CallID: "c2", Decision: event.Once})
	want(TaskRunning, TaskWaiting)
	tell(0, event.QuestionAnswered{ID: "q2", Text: "this", By: "user"}) // answers name no task
	want(TaskRunning, TaskRunning)
}
