package plan

import (
	"context"
	"errors"
	"fmt"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/tools"
)

// Frequency of reminders of plan mode.
const (
	every      = 5 // answers between two reminders
	wholeEvery = 5 // every fifth reminder has the full text
)

// part is plan mode in a session.
type part struct {
	turn.Nothing
	file File
}

// Part returns plan mode for a session with a plan file, "" for none.
func Part(file File) turn.Part { return part{file: file} }

func (part) Name() string { return "plan" }

// Brief reminds the model of plan mode, its end, and a plan that a compaction removed.
func (p part) Brief(_ context.Context, b turn.Briefing) {
	mode, _ := b.Approvals().Mode()
	on, state, approved := mode == action.ModePlan, b.TakePlan(), b.Approvals().ApprovedPlan()
	switch {
	case on && (!state.On || state.Answers >= every):
		b.Tell(reminder.Plan, p.about(state.On && state.Times%wholeEvery != 0, b.Short()))
	case !on && state.On && approved != "":
		b.Tell(reminder.PlanExit, overApproved)
	case !on && state.On:
		b.Tell(reminder.PlanExit, over)
	}
	if !state.Gone {
		return
	}
	switch text, err := p.file.Read(); {
	case on && err == nil:
		b.Tell(reminder.PlanText, draft(string(p.file), text))
	case !on && approved != "":
		b.Tell(reminder.PlanText, again(string(p.file), approved))
	}
}

// about returns a reminder of plan mode.
func (p part) about(isSparse, isShort bool) string {
	switch {
	case isShort:
		return short
	case isSparse:
		return sparse(string(p.file))
	}
	return whole(string(p.file))
}

// Equip lets a call start and end plan mode.
func (p part) Equip(a turn.Asking, call *tools.Call) { call.Plan = planning{p.file, a, call.ID} }

// planning is plan mode for one call.
type planning struct {
	file   File
	by     turn.Asking
	callID string
}

// own returns why a call can't use plan mode, or nil. The plan belongs to the main conversation, in which the person
// decides about it.
func (m planning) own() error {
	switch {
	case !m.by.Main():
		return errors.New("plan mode belongs to the main conversation: a branch or subagent can neither start nor end it")
	case m.file == "":
		return errors.New("this session has no file for a plan")
	}
	return nil
}

// Enter starts plan mode.
func (m planning) Enter() (string, error) {
	if err := m.own(); err != nil {
		return "", err
	}
	if !m.by.Approvals().EnterPlan(m.by.Task()) {
		return "plan mode is already on; nothing has changed", nil
	}
	return "plan mode is on from now on", nil
}

// Exit shows the plan to the person until they decide; they may edit it. If an earlier process stored a decision for
// the call, that decision counts, for the plan that was shown then.
func (m planning) Exit(ctx context.Context) (tools.PlanDecision, error) {
	if err := m.own(); err != nil {
		return tools.PlanDecision{}, err
	}
	was, answered := m.by.Answered()
	if answered && !was.Answer.Edited && was.Answer.Text != event.PlanEdit {
		steps, _ := plan.Steps(was.Text) // a warning has reported why there are none
		return m.decide(was.Answer.Text, was.Text, steps, was.Before), nil
	}
	if mode, _ := m.by.Approvals().Mode(); mode != action.ModePlan {
		return tools.PlanDecision{}, fmt.Errorf("mode is %s, not plan: there is no plan to approve; enter_plan starts plan mode", mode)
	}
	text, err := m.file.Read()
	if err != nil {
		return tools.PlanDecision{}, err
	}
	steps, err := plan.Steps(text)
	if err != nil {
		return tools.PlanDecision{}, err
	}
	if answered && was.Answer.Edited {
		text, steps = m.edited(text, was.Answer.Text, steps)
	}
	for {
		before := m.by.Approvals().AfterPlan()
		answer, err := m.by.Ask(ctx, "buddy shows a plan", event.QuestionAsked{
			CallID: m.callID, Plan: string(m.file), Before: before, Text: text, Choices: plan.Choices(before),
		})
		switch {
		case errors.Is(err, tools.ErrNobody):
			m.by.EndWith(plan.Shown(text))
			return tools.PlanDecision{Decision: "shown", Note: "nobody is there to approve the plan: it was printed, and the work ends here"}, nil
		case err != nil:
			return tools.PlanDecision{}, err
		case answer.Edited:
			text, steps = m.edited(text, answer.Text, steps)
		case answer.Text != event.PlanEdit:
			return m.decide(answer.Text, text, steps, before), nil
		}
	}
}

// edited writes the person's version to the plan file and returns it with its steps. An invalid plan changes nothing,
// and invalid steps are dropped. A warning reports either case.
func (m planning) edited(before, after string, steps []event.PlanStep) (string, []event.PlanStep) {
	if err := m.file.Replace(after); err != nil {
		m.by.Publish(event.Warning{Text: "your edit of the plan was not saved: " + err.Error(), Code: "plan"})
		return before, steps
	}
	steps, err := plan.Steps(after)
	if err != nil {
		m.by.Publish(event.Warning{Text: err.Error(), Code: "plan", NextStep: "the plan now has no list of steps"})
	}
	return after, steps
}

// decide applies the person's answer about a plan. before is the mode that follows plan mode.
func (m planning) decide(answer, text string, steps []event.PlanStep, before action.Mode) tools.PlanDecision {
	approvals, task := m.by.Approvals(), m.by.Task()
	switch answer {
	case event.PlanApprove, event.PlanEdits:
		e := event.PlanExited{Approved: true, Edits: answer == event.PlanEdits, Plan: m.by.Redact(text), Steps: steps}
		mode := approvals.EndPlan(task, e, before)
		d := tools.PlanDecision{Decision: "approved", Plan: text, Todo: plan.Checklist(steps)}
		d.Note = fmt.Sprintf("the user approved this plan, as it is here; the mode is now %s. Carry it out now; each call is judged as always", mode)
		if len(steps) > 0 {
			d.Note += ". todo has its steps: keep them up to date with the tool todo"
		}
		return d
	case event.PlanDiscard:
		mode := approvals.EndPlan(task, event.PlanExited{}, before)
		d := tools.PlanDecision{Decision: "discarded", Note: fmt.Sprintf("the user does not want this plan; mode is %s again. Don't carry it out; ask what they want instead", mode)}
		if err := m.file.Discard(); err != nil {
			d.Note += "; " + err.Error()
		}
		return d
	case event.PlanKeep:
		answer = ""
	}
	return tools.PlanDecision{
		Decision: "keep planning", Remark: tools.Head(answer, tools.OutputBytes),
		Note: "plan mode is still on: change the plan in " + string(m.file) + ", then call exit_plan again",
	}
}
