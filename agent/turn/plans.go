package turn

import (
	"context"
	"errors"
	"fmt"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/agent/reminder"
	"buddy/tools"
)

// tellPlan tells the model before a request what it has to know of mode plan, and of a plan that a
// compaction took out.
func tellPlan(b Briefing) {
	p := b.l.p
	mode, _ := p.Approvals.Mode()
	on, file := mode == action.ModePlan, string(p.Plan)
	attach := func(kind, text string) {
		b.x.talk.Attach(b.x.task, 0, event.ReminderAttached{Kinds: []string{kind}, Text: text})
	}
	due, gone := conversation.DuePlan(b.x.talk, on)
	switch due {
	case conversation.PlanFull, conversation.PlanSparse:
		text := plan.Short
		if !b.Short() {
			text = plan.Full(file)
			if due == conversation.PlanSparse {
				text = plan.Sparse(file)
			}
		}
		attach(reminder.Plan, text)
	case conversation.PlanOver:
		attach(reminder.PlanExit, plan.Over(p.Approvals.ApprovedPlan() != ""))
	case conversation.PlanNothing:
	}
	if !gone {
		return
	}
	approved := p.Approvals.ApprovedPlan()
	switch draft, err := p.Plan.Read(); {
	case on && err == nil:
		attach(reminder.PlanText, plan.Draft(file, draft))
	case !on && approved != "":
		attach(reminder.PlanText, plan.Again(file, approved))
	}
}

// planMode is mode plan for one call.
type planMode struct {
	batch  *batch
	callID string
}

// own returns why a call has no part in mode plan, nil if it has: the plan is that of the main
// conversation, in which the person decides about it.
func (m planMode) own() error {
	switch {
	case m.batch.x.talk.Branch() != 0:
		return errors.New("mode plan belongs to the main conversation: work that goes on beside it neither begins nor ends it")
	case m.batch.loop.p.Plan == "":
		return errors.New("this session has no file for a plan")
	}
	return nil
}

// Enter begins mode plan.
func (m planMode) Enter() (string, error) {
	if err := m.own(); err != nil {
		return "", err
	}
	if !m.batch.loop.p.Approvals.EnterPlan(m.batch.x.task) {
		return "mode is plan already; nothing has changed", nil
	}
	return "mode is plan from now on", nil
}

// Exit shows the person the plan, as often as they change it, until they have decided.
func (m planMode) Exit(ctx context.Context) (tools.PlanDecision, error) {
	p := m.batch.loop.p
	if err := m.own(); err != nil {
		return tools.PlanDecision{}, err
	}
	if mode, _ := p.Approvals.Mode(); mode != action.ModePlan {
		return tools.PlanDecision{}, fmt.Errorf("mode is %s, not plan: there is no plan to be approved; enter_plan begins one", mode)
	}
	text, err := p.Plan.Read()
	if err != nil {
		return tools.PlanDecision{}, err
	}
	steps, err := plan.Steps(text)
	if err != nil {
		return tools.PlanDecision{}, err
	}
	for {
		m.batch.loop.notify(m.batch.x, m.batch.turn, "elicitation_dialog", "buddy shows a plan")
		before := p.Approvals.AfterPlan()
		answer, err := m.ask(ctx, text, before)
		switch {
		case errors.Is(err, tools.ErrNobody):
			m.batch.x.showPlan(plan.Shown(text))
			return tools.PlanDecision{Decision: "shown", Note: "nobody is there to approve the plan: it was printed, and the work ends here"}, nil
		case err != nil:
			return tools.PlanDecision{}, err
		case answer.Edited:
			text, steps = m.edited(text, answer.Text, steps)
		case answer.Text != event.PlanEdit:
			return m.decided(answer.Text, text, steps, before), nil
		}
	}
}

// ask shows a text as the plan, with the mode from before it, and waits for the answer.
func (m planMode) ask(ctx context.Context, text string, before action.Mode) (event.QuestionAnswered, error) {
	p := m.batch.loop.p
	if !p.Approvals.Interactive() {
		return event.QuestionAnswered{}, tools.ErrNobody
	}
	return p.Questions.AskPlan(ctx, m.batch.x.task, m.batch.turn, event.QuestionAsked{
		CallID: m.callID, Plan: string(p.Plan), Before: before, Text: text, Choices: plan.Choices(before),
	})
}

// edited takes what the person made of a plan into its file, and returns the plan that is asked about
// next with its steps. What can't be a plan changes nothing; steps that make no sense are left out: both
// are said.
func (m planMode) edited(before, after string, steps []event.PlanStep) (string, []event.PlanStep) {
	b := m.batch
	if err := b.loop.p.Plan.Replace(after); err != nil {
		b.publish(event.Warning{Text: "your change of the plan was not taken: " + err.Error(), Code: "plan"})
		return before, steps
	}
	steps, err := plan.Steps(after)
	if err != nil {
		b.publish(event.Warning{Text: err.Error(), Code: "plan", NextStep: "as it is, the plan has no list of steps"})
	}
	return after, steps
}

// decided does what the person said about a plan, who was told the mode from before it.
func (m planMode) decided(said, text string, steps []event.PlanStep, before action.Mode) tools.PlanDecision {
	p, task := m.batch.loop.p, m.batch.x.task
	switch said {
	case event.PlanApprove, event.PlanEdits:
		e := event.PlanExited{Approved: true, Edits: said == event.PlanEdits, Plan: m.batch.loop.o.Redact.Text(text), Steps: steps}
		mode := p.Approvals.EndPlan(task, e, before)
		d := tools.PlanDecision{Decision: "approved", Plan: text, Todo: plan.Checklist(steps)}
		d.Note = fmt.Sprintf("the user approved this plan, as it stands here; the mode is now %s. Carry it out now; each call is judged as always", mode)
		if len(steps) > 0 {
			d.Note += ". todo is its list: keep it up to date with the tool todo"
		}
		return d
	case event.PlanDiscard:
		mode := p.Approvals.EndPlan(task, event.PlanExited{}, before)
		d := tools.PlanDecision{Decision: "discarded", Note: fmt.Sprintf("the user does not want this plan; mode is %s again. Do nothing of it, ask what they want instead", mode)}
		if err := p.Plan.Discard(); err != nil {
			d.Note += "; " + err.Error()
		}
		return d
	case event.PlanKeep:
		said = ""
	}
	return tools.PlanDecision{
		Decision: "keep planning", Remark: tools.Head(said, tools.OutputBytes),
		Note: "mode is still plan: change the plan in " + string(p.Plan) + ", then call exit_plan again",
	}
}
