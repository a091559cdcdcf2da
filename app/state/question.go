package state

import (
	"fmt"
	"slices"

	"buddy/agent/event"
)

// applyQuestion shows a question with its choices, and its answer.
func (s *State) applyQuestion(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.QuestionAsked:
		s.Questions = append(s.Questions, p)
		awaitPerson(s.Tasks, env, p.ID)
		if p.From != "" || env.Branch == 0 && s.calls[p.CallID] != nil { // the dialog or the call shows it
			break
		}
		text := p.Text + "\n"
		for i, c := range p.Choices {
			text += fmt.Sprintf("\n%d. %s", i+1, c)
		}
		s.add(env, AssistantBlock, text)
	case event.QuestionAnswered:
		step := false // whether it is a step of a server's form, which the call's result sums up
		for _, q := range s.Questions {
			if q.ID != p.ID {
				continue
			}
			step = q.From != ""
			convOf(s, env.Branch).changeCall(q.CallID, func(c *Call) {
				c.Answered = p.Screen
				if p.By == "cancel" {
					c.State = CallCancelled
				}
			})
		}
		open := len(s.Questions)
		s.Questions = slices.DeleteFunc(s.Questions, func(q event.QuestionAsked) bool { return q.ID == p.ID })
		if len(s.Questions) == open {
			return 0
		}
		personAnswered(s.Tasks, p.ID)
		switch {
		case p.By != "user" || step:
		case p.Edited:
			s.add(env, NoticeBlock, "you changed the plan")
		default:
			s.add(env, UserBlock, p.Text)
		}
	}
	return Conversation | Tasks | Approvals
}
