package state

import (
	"slices"

	"buddy/agent/event"
)

// hear notes when the model was heard of, so that a silence can be seen, whether its request waits
// to be sent again, and which hooks run.
func (s *State) hear(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta, event.CallDelta, event.ModelFallback, event.RequestStarted, event.ModelAlive:
		s.Heard = env.Time
		s.endWait()
	case event.ModelRetry:
		s.Heard, s.Retry = env.Time, &Retry{At: env.Time + p.WaitMS}
	case event.TaskFinished:
		if t := s.Running(); t == nil || t.ID != p.ID {
			return 0
		}
		s.Heard = 0
		s.giveUpRetry(env.Seq)
	case event.HookStarted:
		s.Hooks = append(s.Hooks, p)
	case event.HookRan:
		if i := slices.IndexFunc(s.Hooks, func(h event.HookStarted) bool { return h.Event == p.Event && h.Name == p.Name }); i >= 0 {
			s.Hooks = slices.Delete(slices.Clone(s.Hooks), i, i+1)
		}
	case event.ModelMessage, event.ResponseFinished, event.TurnFinished:
		s.Heard = 0
		s.endWait()
	case event.SessionResumed:
		s.Heard = 0
		s.giveUpRetry(env.Seq)
	default:
		return 0
	}
	return Tasks // what the main one does
}
