package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/layout"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// on sends events of another task and branch, and waits until they are drawn.
func (x *testUI) on(branch, task int, payloads ...event.Event) {
	for _, p := range payloads {
		x.seq++
		x.events <- event.Envelope{Seq: x.seq, Time: time.Now().UnixMilli(), Session: "7f3a-0000", Branch: branch, Task: task, Payload: p}
	}
	x.Settle()
}

// begins makes the main agent call a subagent, task n on branch n.
func (x *testUI) begins(n int, name, title string, background bool) {
	call := fmt.Sprint("call-", n)
	x.on(0, 1, event.ToolRequested{CallID: call, Name: "agent", Action: action.Action{Kind: action.Internal, Tool: "agent", Op: name + ": " + title}},
		event.ToolStarted{CallID: call, Name: "agent"})
	x.on(0, 0, event.BranchStarted{Branch: n, Why: event.ForSubagent})
	x.on(n, n, event.PromptSubmitted{ID: n, Text: "Please " + title + "."},
		event.TaskStarted{ID: n, Kind: event.SubagentTask, Title: title, Agent: name, Parent: 1, Call: call, Background: background})
	if background {
		x.on(0, 1, event.ToolResult{CallID: call, Name: "agent", Result: "{}"})
	}
}

// works makes a subagent do a turn with a call.
func (x *testUI) works(n int, says, tool, subject string) {
	id := fmt.Sprint("c", x.seq)
	x.on(n, n, event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: says, ToolCalls: []model.ToolCall{{ID: id}}}},
		event.ToolRequested{CallID: id, Name: tool, Arguments: fmt.Sprintf(`{"pattern":%q}`, subject), Action: action.Action{Kind: action.Internal, Tool: tool, Command: subject}},
		event.ToolStarted{CallID: id, Name: tool},
		event.ToolResult{CallID: id, Name: tool, Result: "three", Outcome: "3 matches", Tail: "three"},
		event.TurnFinished{Usage: &model.Usage{Prompt: 4000, Completion: 100}, Cost: model.Dollar / 100})
}

// team is a main agent with two working subagents, one of them in the background, and one that has ended.
func team(t *testing.T, cols, rows int) *testUI {
	x := open(t, cols, rows)
	x.feed(event.PromptSubmitted{ID: 1, Text: "Who calls retry()?"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "Who calls retry()?"},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "I let three agents look."}})
	x.begins(2, "explore", "find callers", false)
	x.begins(3, "general", "run the tests", true)
	x.begins(4, "explore", "read the docs", false)
	x.works(2, "I search for callers.", "grep", "retry(")
	x.works(3, "The tests first.", "run_shell", "go test ./...")
	x.works(4, "The docs say it.", "read_file", "docs/retry.md")
	x.on(4, 4, event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "It retries 3 times."}},
		event.TaskFinished{ID: 4, Outcome: event.Completed})
	x.on(0, 1, event.ToolResult{CallID: "call-4", Name: "agent", Result: "It retries 3 times.", Tail: "It retries 3 times."})
	time.Sleep(2 * time.Second)
	x.on(0, 1, event.MetricsUsage{})
	return x
}

// golden compares the screen with a file, ignoring animations.
func (x *testUI) golden(name string) {
	x.t.Helper()
	cols, rows, _ := x.Size()
	text := regexp.MustCompile("[◐◓◑◒]").ReplaceAllString(x.Screen(), "◐")
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	viewtest.GoldenText(x.t, fmt.Sprintf("%s-%dx%d", name, cols, rows), b.String())
}

// sizes are the screens of these tests.
var sizes = [][2]int{{120, 32}, {80, 24}}

// Each subagent is one block with its progress in the main conversation, and Tasks shows a tree with the usage of each
// and the sum.
func TestSubagentsOnScreen(t *testing.T) {
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			x := team(t, size[0], size[1])
			x.Want("explore: find callers", "search retry( · 1 turn", "I let three agents look.")
			x.unwanted("I search for callers.", "The tests first.", "Please find callers.")
			x.golden("agents-main")
			x.u.arranged.setFocus(layout.Tasks)
			x.Press("Up")
			x.Want(" #2 explore", " #3 general", "└ ✔ #4", "general")
			x.golden("agents-tasks")
		})
	}
}

// A subagent is opened in Tasks, followed while it works, steered by prompts, and left with Esc, which stops nothing.
// Each conversation keeps its own draft.
func TestFollowingASubagent(t *testing.T) {
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			x := team(t, size[0], size[1])
			x.Type("and main?")
			x.openAgent(2)
			x.Want("── explore #2 · find", "Esc goes back", "Please find callers.", "I search for callers.", "to explore #2", "explore #2>")
			x.unwanted("and main?", "I let three agents look.")
			x.Type("only in tests")
			x.golden("agents-followed")
			x.Press("Enter")
			x.wantSent(event.Submit{Text: "only in tests", Task: 2})
			x.on(2, 2, event.PromptSubmitted{ID: 9, Text: "only in tests", Queued: true})
			x.Want("⏎ queued  only in tests")
			x.on(2, 2, event.PromptSubmitted{ID: 9, Text: "only in tests", Kind: event.Steering}, event.TextDelta{Text: "Then I look "}, event.TextDelta{Text: "in tests."})
			x.Want("▌ only in tests", "Then I look in tests.")
			x.Type("half")
			x.Press("Esc")
			x.wantSent()
			x.Want("> and main?", "I let three agents look.")
			x.unwanted("half", "Then I look")
			x.openAgent(2)
			x.Want("explore #2> half")
			x.Press("Ctrl+C")
			x.wantSent(event.Cancel{Task: 2})
		})
	}
}

// openAgent opens a subagent with the keys of Tasks.
func (x *testUI) openAgent(id int) {
	x.t.Helper()
	x.u.arranged.setFocus(layout.Tasks)
	x.Press("Up", "Up", "Up", "Up", "Up")
	for range id - 1 {
		x.Press("Down")
	}
	x.Press("Enter")
}

// Text typed to a subagent never reaches the main agent: not when the subagent has ended in the meantime, not as a
// shell command, not as a command that starts a prompt.
func TestNothingTypedToASubagentReachesTheMainAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := team(t, 120, 32)
		x.feed(event.CommandsListed{Commands: []event.CustomCommand{{Name: "ship", Help: "ship it"}}})
		x.openAgent(2)
		for _, line := range []string{"!rm -rf x", "/bg look around", "/ship", "/init"} {
			x.Press("Ctrl+U")
			x.Type(line)
			x.Press("Enter")
			x.wantSent()
			x.Want("go back to it first")
		}
		x.Press("Ctrl+U", "Enter")
		x.wantSent()
		x.Type("are you sure")
		x.on(2, 2, event.TaskFinished{ID: 2, Outcome: event.Completed})
		x.Want("explore #2 has ended")
		x.Press("Enter")
		x.wantSent()
		x.Want("this agent has ended", "are you sure")
		x.Press("Esc")
		x.unwanted("are you sure")
		if x.u.state.Running() == nil {
			t.Error("the main task was stopped")
		}
		x.wantSent()
	})
}

// The saved draft is the one for the main agent, whichever conversation is shown.
func TestTheSavedDraftIsForTheMainAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := team(t, 120, 32)
		x.Type("main")
		x.openAgent(2)
		x.Type("sub")
		if got := Draft(x.u); got != "main" {
			t.Errorf("the draft is %q", got)
		}
		x.Press("Esc")
		if got := Draft(x.u); got != "main" {
			t.Errorf("back again it is %q", got)
		}
	})
}

// Seven subagents ask at once: seven requests in order, each titled with its agent and answered separately; a key typed
// in the prompt answers none.
func TestSevenSubagentsAskAtOnce(t *testing.T) {
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.feed(event.PromptSubmitted{ID: 1, Text: "go"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "go"})
			for n := 2; n <= 8; n++ {
				x.begins(n, "explore", fmt.Sprint("part ", n), false)
			}
			x.Type("half a prom")
			for n := 2; n <= 8; n++ { // all models use the same call id
				act := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: fmt.Sprint("make part", n)}
				x.on(n, n, event.ToolRequested{CallID: "c1", Name: "run_shell", Arguments: fmt.Sprint("{", n, "}"), Action: act},
					event.ApprovalAsked{ID: fmt.Sprint("a", n), CallID: "c1", Action: act, Agent: fmt.Sprint("explore: part ", n)})
			}
			x.Want("1 of 7", "asked by explore: part 2", "make part2", "> half a prom")
			x.Type("pt, yes ")
			x.wantSent()
			x.Want("> half a prompt, yes")
			<-time.After(time.Second / 2) // avoids the edge of a second, where either count may show
			x.golden("agents-ask")
			for n := 2; n <= 8; n++ {
				x.Want(fmt.Sprintf("asked by explore: part %d", n), fmt.Sprint("make part", n))
				x.Press("F8")
				time.Sleep(draw.GracePeriod)
				x.Settle()
				id := fmt.Sprint("a", n)
				if n%2 == 0 {
					x.decide("y")
					x.wantSent(event.AnswerApproval{ID: id, Decision: event.Once})
					x.on(n, n, event.ApprovalAnswered{ID: id, CallID: "c1", Decision: event.Once, By: "user"})
					continue
				}
				x.decide("n")
				x.wantSent(event.AnswerApproval{ID: id, Decision: event.Deny})
				x.on(n, n, event.ApprovalAnswered{ID: id, CallID: "c1", Decision: event.Deny, By: "user"})
			}
			x.unwanted("Run this command?")
			x.Want("> half a prompt, yes")
			x.openAgent(3)
			x.Want("denied")
			x.Press("Esc")
			x.openAgent(4)
			x.unwanted("denied")
		})
	}
}

// Cancelling in Tasks cancels the selected subagent; the tree disappears when all have ended.
func TestCancellingASubagent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := team(t, 120, 32)
		x.u.arranged.setFocus(layout.Tasks)
		x.Press("Up", "Up", "Up", "Up", "Down", "Down", "x")
		x.wantSent(event.Cancel{Task: 3})
		x.on(3, 3, event.TaskCancelling{ID: 3}, event.TaskFinished{ID: 3, Outcome: event.Cancelled})
		x.Want("└ ⊘ #3", "cancelled")
		x.Press("x") // it has ended
		x.wantSent()
	})
}

// A call leads to its subagent, too.
func TestACallLeadsToItsSubagent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := team(t, 120, 32)
		x.u.arranged.setFocus(layout.Conversation)
		x.Press("o")
		x.Want("explore #4 · read the docs", "It retries 3 times.", "explore #4 has ended")
		x.Press("Esc")
		x.Want("I let three agents look.")
	})
}
