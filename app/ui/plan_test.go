package ui

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

var aPlan = event.QuestionAsked{
	ID: "p1", CallID: "c1", Plan: "/home/ann/shop/.buddyx/sessions/7f3a-0000/plan.md", Before: action.ModeAsk, Choices: plan.Choices(action.ModeAsk),
	Text: "# Round taxes\n\nTaxes are cut off today; they are to be rounded.\x1b[31m\n\n1. reproduce it in a test\n2. fix `tax.go`\n\n" +
		"```steps\n- description: reproduce it\n  tool: run_shell\n  risk: low\n- description: fix tax.go\n  depends_on: [1]\n  requires_approval: true\n```\n",
}

// planning returns the events before a plan is shown.
func planning() []event.Event {
	all := append([]event.Event{event.PlanEntered{File: aPlan.Plan, Before: action.ModeAsk}, event.ModeChanged{Mode: action.ModePlan}}, running[:3]...)
	return append(all, event.ToolRequested{CallID: "c1", Name: "exit_plan", Arguments: "{}", Action: action.Action{Kind: action.Internal, Tool: "exit_plan"}})
}

// The plan is between the conversation and the prompt, as Markdown, with the mode in the header; a small screen shows
// its start and the choices.
func TestPlanOnScreen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 32}} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.feed(planning()...)
			x.feed(aPlan)
			name := fmt.Sprintf("plan-%dx%d", size[0], size[1])
			viewtest.GoldenText(t, name+"-opens", x.Screen())
			x.rest()
			x.Press("2")
			viewtest.GoldenText(t, name+"-choice", x.Screen())
			x.Type("nd thought: which test?")
			viewtest.GoldenText(t, name+"-remark", x.Screen())
			x.Press("Enter")
			x.wantSent(event.Answer{ID: "p1", Text: "2nd thought: which test?"})
			second := aPlan
			second.ID = "p2"
			x.feed(event.QuestionAnswered{ID: "p1", By: "user", Text: "2nd thought: which test?"}, second)
			x.rest()
			x.Press("1", "Enter")
			x.wantSent(event.Answer{ID: "p2", Text: event.PlanApprove})
			x.feed(event.QuestionAnswered{ID: "p2", By: "user", Text: event.PlanApprove}, event.PlanExited{Approved: true, Plan: aPlan.Text}, event.ModeChanged{Mode: action.ModeAsk})
			viewtest.GoldenText(t, name+"-approved", x.Screen())
		})
	}
}

// The plan is edited in the user's editor; the result is the answer. Without a change, or if the editor fails, the plan
// stays pending.
func TestPlanIsEdited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		var left string
		var failed error
		x.u.deps.Edit = func(name, text string) (string, error) {
			if name != "plan.md" || text != aPlan.Text {
				t.Errorf("%s was opened with %q", name, text)
			}
			return left, failed
		}
		x.feed(planning()...)
		x.feed(aPlan)
		for _, c := range []struct {
			left   string
			failed error
			want   string
		}{{aPlan.Text, nil, "you changed nothing"}, {"", errors.New("editor \"vi\": gone"), `editor "vi": gone`}} {
			left, failed = c.left, c.failed
			x.rest()
			x.Press("Ctrl+G")
			x.wantSent()
			x.Want(c.want, "1  Yes, and ask before each change")
		}
		left, failed = "# Other\n", nil
		x.Press("Ctrl+G")
		x.wantSent(event.Answer{ID: "p1", Text: "# Other\n", Edited: true})
		other := aPlan
		other.ID, other.Text = "p2", "# Other\n"
		x.feed(event.QuestionAnswered{ID: "p1", By: "user", Text: "# Other\n", Edited: true}, other)
		x.Want("you changed the plan", " Other")
	})
}

// Esc goes back to the prompt and leaves the plan open; a key typed for the prompt does not answer, and Shift+Tab,
// which would end plan mode, does nothing while the plan is pending.
func TestPlanIsLeftOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(planning()...)
		x.Type("what about ")
		x.feed(aPlan)
		x.Type("1\n")
		x.wantSent(event.Submit{Text: "what about 1"})
		x.Press("Shift+Tab")
		x.wantSent()
		x.Want("Answer first")
		x.rest()
		x.Press("Esc")
		x.wantSent()
		x.Want("Press F8 to answer")
		x.Press("F8")
		time.Sleep(draw.GracePeriod)
		x.Press("4", "Enter")
		x.wantSent(event.Answer{ID: "p1", Text: event.PlanDiscard})
	})
}

// Each choice of a plan does what its label says; the choice that keeps planning asks for feedback, which may be empty,
// and Esc leads back from it.
func TestPlanChoices(t *testing.T) {
	for _, tt := range []struct {
		before action.Mode
		keys   []string
		want   string // what shows
		answer string
	}{
		{action.ModeAsk, []string{"1", "Enter"}, "1  Yes, and ask before each change", event.PlanApprove},
		{action.ModeAsk, []string{"2", "Enter"}, "2  Yes, and accept edits in this folder", event.PlanEdits},
		{action.ModeAsk, []string{"3", "Enter", "Enter"}, "3  Keep planning", event.PlanKeep},
		{action.ModeAsk, []string{"3", "Enter", "n", "o", "Enter"}, "3  Keep planning", "no"},
		{action.ModeAsk, []string{"3", "Enter", "n", "Esc"}, "3  Keep planning", ""},
		{action.ModeStrict, []string{"2", "Enter"}, "1  Yes, and ask before everything", event.PlanEdits},
		{action.ModeEdits, []string{"2", "Enter", "Enter"}, "1  Yes, and accept edits in this folder", event.PlanKeep},
		{action.ModeAuto, []string{"3", "Enter"}, "1  Yes, in auto mode: edits and sandboxed commands run without asking", event.PlanDiscard},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, 100, 30)
			q := aPlan
			q.Before, q.Choices = tt.before, plan.Choices(tt.before)
			x.feed(planning()...)
			x.feed(q)
			x.rest()
			x.Want("Carry out this plan?", tt.want)
			x.Press(tt.keys...)
			if tt.answer == "" {
				x.wantSent()
				x.rest()
				x.Want(tt.want)
				return
			}
			x.wantSent(event.Answer{ID: "p1", Text: tt.answer})
		})
	}
}

// /plan starts plan mode, and a turn if it has a prompt; Shift+Tab reaches plan mode as well.
func TestPlanCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.Type("/plan\n")
		x.wantSent(event.SetMode{Mode: action.ModePlan})
		x.Type("/plan round the taxes\n")
		x.wantSent(event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "round the taxes"})
		x.feed(event.ModeChanged{Mode: action.ModeEdits})
		x.Press("Shift+Tab")
		x.wantSent(event.CycleMode{})
	})
}
