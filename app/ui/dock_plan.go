package ui

import (
	"strings"

	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/app/keymap"
	"buddy/views/dialog"
	"buddy/views/draw"
)

// askPlan docks a plan for approval, with its steps as a list.
func (d *dock) askPlan(q event.QuestionAsked) {
	var choices []string
	for _, c := range q.Choices {
		choices = append(choices, plan.Label(c, q.Before))
	}
	var hints []draw.Hint
	if keys := d.deps.Keys.Keys(keymap.EditPrompt); len(keys) > 0 {
		hints = append(hints, draw.Hint{Key: keys[0], Label: "edit the plan"})
	}
	d.question.Ask(dialog.Question{
		ID: q.ID, Title: plan.Question, Scope: keymap.Question, Lines: []string{plan.Shown(q.Text)}, Markdown: true, Choices: choices,
		Own: true, OwnLabel: "type feedback", Hints: hints,
		Take: func(n int) { d.answerPlan(q, q.Choices[n]) },
	})
}

// answerPlan answers a plan with the choice. If the choice is to keep planning, it first asks the user for feedback.
func (d *dock) answerPlan(q event.QuestionAsked, choice string) {
	if choice != event.PlanKeep {
		d.answer(q, event.Answer{ID: q.ID, Text: choice})
		return
	}
	d.show(q.ID) // stays pending until the feedback is there
	d.line.Show(plan.Label(choice, q.Before), "What should change?", func(text string) error {
		if text == "" {
			text = choice
		}
		d.answer(q, event.Answer{ID: q.ID, Text: text})
		return nil
	})
}

// editAnswer opens the user's editor with the plan. For another question it opens the editor with the answer in the
// prompt.
func (d *dock) editAnswer() {
	for _, q := range d.state.Questions {
		if q.ID == d.request && q.Plan != "" {
			d.answer(q, event.Answer{ID: q.ID, Text: event.PlanEdit})
			return
		}
	}
	d.answers = d.request
	d.toPrompt()
	d.prompt.OnEdit()
}

// answer sends the answer to a question. If the answer is the choice to edit a plan, it opens the editor and sends the
// edited plan. If nothing was changed, the plan is shown again.
func (d *dock) answer(q event.QuestionAsked, a event.Answer) {
	if q.Plan == "" || a.Text != event.PlanEdit {
		d.deps.Send(a)
		return
	}
	text, err := d.deps.Edit("plan.md", q.Text)
	switch {
	case err != nil:
		d.question.OnHint(err.Error())
	case strings.TrimSuffix(text, "\n") == strings.TrimSuffix(q.Text, "\n"):
		d.question.OnHint("you changed nothing")
	default:
		d.deps.Send(event.Answer{ID: q.ID, Text: text, Edited: true})
		return
	}
	d.goTo(q.ID)
}
