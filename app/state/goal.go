package state

import "buddy/agent/event"

// applyGoal shows a change of the goal.
func applyGoal(s *State, env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.GoalSet:
		s.add(env, NoticeBlock, p.Text())
	case event.GoalChecked:
		s.add(env, NoticeBlock, p.Text())
	case event.GoalChanged:
		s.Info.Goal = p
		kind := NoticeBlock
		if p.State == event.GoalPaused {
			kind = WarningBlock
		}
		text := p.Text()
		if text == "" {
			return Header
		}
		s.add(env, kind, text)
	}
	return Header | Conversation
}
