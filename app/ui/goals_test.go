package ui

import (
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
)

// TestGoalOnScreen: a goal is typed, the header counts its turns, its checks are ordinary calls, and its outcome is a
// line.
func TestGoalOnScreen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 32}} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.Type("/goal make the tests pass --check make test --turns 20")
			x.Press("Enter")
			x.wantSent(event.SetGoal{Goal: "make the tests pass", Check: "make test", Limit: event.GoalUse{Turns: 20}})

			limit := event.GoalUse{Turns: 20, Cost: 5 * model.Dollar, TimeMS: 7_200_000}
			goal := event.GoalChanged{ID: 1, State: event.GoalActive, Limit: limit}
			command := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "make test"}
			x.feed(event.GoalSet{ID: 1, Goal: "make the tests pass", Check: "make test", Limit: limit}, goal,
				event.PromptSubmitted{ID: 1, Text: "make the tests pass", Kind: event.Opening}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "make the tests pass"},
				event.ModelMessage{Message: model.Message{Content: "They pass. \x1b[31mThe goal is met."}})
			goal.Used = event.GoalUse{Turns: 3}
			code := 2
			x.feed(goal,
				event.ToolRequested{CallID: "k1", Name: "run_shell", Action: command}, event.ToolStarted{CallID: "k1", Name: "run_shell"},
				event.ToolResult{CallID: "k1", Name: "run_shell", Result: "{}", Tail: "--- FAIL: TestTax\n", ExitCode: &code, DurationMS: 1200},
				event.GoalChecked{ID: 1, Why: "its command ended with exit code 2"})
			x.golden("goal-active")
			x.Want("goal 3/20 turns", "goal not met yet: its command ended")

			paused := goal
			paused.State, paused.Reason = event.GoalPaused, "you interrupted it"
			x.feed(paused, event.TaskFinished{ID: 1, Outcome: event.Cancelled})
			x.golden("goal-paused")
			x.Want("goal paused")

			x.Type("/goal resume")
			x.Press("Enter")
			x.wantSent(event.ChangeGoal{To: event.GoalActive})
			met := goal
			met.State = event.GoalMet
			x.feed(event.GoalChecked{ID: 1, Met: true, Why: "its command ended with exit code 0"}, met)
			x.golden("goal-met")

			x.Type("/goal")
			x.Press("Enter")
			x.wantSent()
			x.didRun("goal")
			x.Type("/goal x --turns none")
			x.Press("Enter")
			x.wantSent()
			x.Want("/goal: --turns none: must be a number of turns")
		})
	}
}

// TestGoalOfAnotherProcess: a goal of an earlier process is shown as paused, and Enter continues it.
func TestGoalOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(event.GoalSet{ID: 1, Goal: "g"}, event.GoalChanged{ID: 1, State: event.GoalActive, Limit: event.GoalUse{Turns: 9}})
		x.Want("goal 0/9 turns")
		x.feed(event.SessionResumed{Cwd: "/home/ann/shop", Target: "local", Model: "demo"})
		x.Want("goal paused")
		x.feed(event.Interrupted{Text: "the goal is paused · Enter resumes it", CanContinue: true},
			event.TaskStarted{ID: 7, Kind: event.ShellTask, Title: "make run"}) // resuming a background command does not change the goal
		x.Press("Enter")
		x.wantSent(event.Continue{})
	})
}

// TestNoGoalBesideASubagent: nothing starts in the main conversation while a subagent's is shown.
func TestNoGoalBesideASubagent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := team(t, 120, 32)
		follow(x.u, 2)
		for _, line := range []string{"/goal g --check true", "/goal resume"} {
			x.Type(line)
			x.Press("Enter")
			x.wantSent()
			x.Want(errMainOnly.Error())
		}
		x.Type("/goal off")
		x.Press("Enter")
		x.wantSent(event.ChangeGoal{To: event.GoalOff})
	})
}
