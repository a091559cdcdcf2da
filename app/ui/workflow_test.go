package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/views/draw"
)

// A workflow run shows its steps in the conversation and in Tasks; its gate is docked and answered with a choice or a
// reason, and a line starts the next run.
func TestWorkflowOnTheScreen(t *testing.T) {
	for _, size := range [][2]int{{120, 34}, {80, 24}} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.feed(running...)
			x.feed(
				event.WorkflowStarted{Run: 1, Name: "rollout", Steps: []event.WorkflowStepDef{{ID: "look", Tool: "run_shell"}, {ID: "roll", Tool: "run_shell", Why: "the others"}}},
				event.WorkflowStepped{Run: 1, Step: "look", State: event.WorkflowCompleted},
				event.WorkflowStepped{Run: 1, Step: "roll", State: event.WorkflowWaiting, Why: "Go on?"},
			)
			x.feed(event.QuestionAsked{ID: "g", From: "workflow rollout", Gate: "roll", Text: "Go on with web-2?", Choices: event.GateChoices})
			x.Want("≡ workflow rollout", "☑ look", "‖ roll · the others", "workflow rollout asks", "Go on with web-2?", "1  approve", "2  deny")
			x.rest()
			time.Sleep(draw.GracePeriod)
			x.Settle()
			x.Type("1")
			x.Press("Enter")
			x.wantSent(event.Answer{ID: "g", Text: event.GatePass})
			x.feed(event.QuestionAnswered{ID: "g", Text: event.GatePass, By: "user"})
			x.feed(
				event.WorkflowStepped{Run: 1, Step: "roll", State: event.WorkflowRunning, Items: []string{"web-2", "web-3"}},
				event.WorkflowStepped{Run: 1, Step: "roll", Item: 1, State: event.WorkflowFailed},
			)
			x.Want("◐ roll 0/2, 1 failed · the others")
			x.Type("/workflow rollout on=web-3 note='two words'")
			x.Press("Enter")
			x.wantSent(event.RunWorkflow{Name: "rollout", Inputs: map[string]string{"on": "web-3", "note": "two words"}})
		})
	}
}
