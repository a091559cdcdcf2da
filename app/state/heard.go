package state

import (
	"slices"

	"buddy/agent/event"
)

// hear notes when the model was heard of, so that a silence can be seen, whether its request waits
// to be sent again, which hooks run, and which targets are connected to.
func (s *State) hear(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta, event.CallDelta, event.ModelFallback, event.RequestStarted, event.ModelAlive:
		s.Heard = env.Time
		s.Retries.endWait()
		s.Coming.come(env)
	case event.ModelRetry:
		s.Heard, s.Retries.Retry = env.Time, &Retry{At: env.Time + p.WaitMS}
		s.Coming.First, s.Coming.Bytes = 0, 0
	case event.TaskFinished:
		if t := s.Running(); t == nil || t.ID != p.ID {
			return 0
		}
		s.Heard, s.Coming = 0, Coming{}
		s.Retries.giveUp(env.Seq)
	case event.HookStarted:
		s.Hooks = append(s.Hooks, p)
	case event.HookRan:
		if i := slices.IndexFunc(s.Hooks, func(h event.HookStarted) bool { return h.Event == p.Event && h.Name == p.Name }); i >= 0 {
			s.Hooks = slices.Delete(slices.Clone(s.Hooks), i, i+1)
		}
	case event.TargetConnecting:
		s.Reaching = slices.DeleteFunc(slices.Clone(s.Reaching), func(name string) bool { return name == p.Target })
		if !p.Ended {
			s.Reaching = append(s.Reaching, p.Target)
		}
	case event.ModelMessage, event.ResponseFinished, event.TurnFinished:
		s.Heard, s.Coming = 0, Coming{}
		s.Retries.endWait()
	case event.SessionResumed:
		s.Heard, s.Coming = 0, Coming{}
		s.Retries.giveUp(env.Seq)
	default:
		return 0
	}
	return Tasks // what the main one does
}

// come notes how far the answer is.
func (c *Coming) come(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.RequestStarted:
		*c = Coming{Asked: env.Time}
	case event.TextDelta:
		c.took(env.Time, len(p.Text), false)
	case event.ReasoningDelta:
		c.took(env.Time, len(p.Text), false)
	case event.CallDelta:
		c.took(env.Time, len(p.Text), true)
	case event.ModelFallback:
		c.First, c.Bytes = 0, 0
	}
}
