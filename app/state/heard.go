package state

import (
	"fmt"
	"slices"

	"buddy/agent/event"
)

// addRetry says why an attempt failed: in one block for all of a request.
func (s *State) addRetry(env event.Envelope, p event.ModelRetry) {
	text := fmt.Sprintf("attempt %d failed: %s", p.Attempt, p.Why)
	if n := len(s.Blocks); p.Attempt > 1 && n > 0 && s.Blocks[n-1] == s.retried {
		s.retried.Text, s.retried.last = []byte(text), env.Seq
		s.retried.Gen++
		return
	}
	s.retried = s.add(env, NoticeBlock, text)
}

// hear notes when the model was heard of, so that a silence can be seen, whether its request waits
// to be sent again, and which hooks run.
func (s *State) hear(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta, event.CallDelta, event.ModelFallback, event.RequestStarted, event.ModelAlive:
		s.Heard, s.Retry = env.Time, nil
	case event.ModelRetry:
		s.Heard, s.Retry = env.Time, &Retry{Attempt: p.Attempt, At: env.Time + p.WaitMS}
	case event.TaskFinished:
		if t := s.Running(); t == nil || t.ID != p.ID {
			return 0
		}
		s.Heard, s.Retry = 0, nil
	case event.HookStarted:
		s.Hooks = append(s.Hooks, p)
	case event.HookRan:
		if i := slices.IndexFunc(s.Hooks, func(h event.HookStarted) bool { return h.Event == p.Event && h.Name == p.Name }); i >= 0 {
			s.Hooks = slices.Delete(slices.Clone(s.Hooks), i, i+1)
		}
	case event.ModelMessage, event.ResponseFinished, event.TurnFinished, event.SessionResumed:
		s.Heard, s.Retry = 0, nil
	default:
		return 0
	}
	return Tasks // what the main one does
}
