package state

import "buddy/agent/event"

func applyGoal(s *State, env event.Envelope, p event.GoalChanged) Changed {
	s.Info.Goal = p
	text := p.Text()
	if text == "" {
		return Header
	}
	kind := NoticeBlock
	if p.State == event.GoalPaused {
		kind = WarningBlock
	}
	s.add(env, kind, text)
	return Header | Conversation
}
