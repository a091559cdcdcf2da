package ui

import (
	"strings"

	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/app/keymap"
	"buddy/views/dialog"
)

// planChoices say what the answers to a plan do.
var planChoices = map[string]string{
	event.PlanApprove: "approve it: mode plan ends, the model carries it out",
	event.PlanEdit:    "edit it in your editor",
	event.PlanDiscard: "discard it: mode plan ends, nothing of it is done",
}

// askPlan docks a plan that is to be approved. Its text shows as it is written, its steps as a list.
func (d *dock) askPlan(q event.QuestionAsked) {
	var choices []string
	for _, c := range q.Choices {
		choices = append(choices, planChoices[c])
	}
	d.question.Ask(dialog.Question{
		ID: q.ID, Title: "Plan", Scope: keymap.Question, Lines: strings.Split(strings.TrimRight(plan.Shown(q.Text), "\n"), "\n"), Choices: choices,
		Own: true, OwnLabel: "type what is missing: planning goes on",
		Take: func(n int) { d.answer(q, event.Answer{ID: q.ID, Text: q.Choices[n]}) },
	})
}

// answer sends the answer to a question. One that edits a plan does so first, and is none if nothing was
// changed: the plan shows again.
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
		d.question.OnHint("nothing was edited")
	default:
		d.deps.Send(event.Answer{ID: q.ID, Text: text, Edited: true})
		return
	}
	d.goTo(q.ID)
}
