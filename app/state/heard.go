package state

import (
	"slices"

	"buddy/agent/event"
)

// recordActivity records when the model last sent something, so that a silence is visible. It also records whether the
// request waits for a retry, which hooks run, and which targets are being connected to.
func (s *State) recordActivity(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta, event.CallDelta, event.ModelFallback, event.RequestStarted, event.ModelAlive, event.ModelReading:
		s.Heard = env.Time
		s.Retries.endWait()
		s.Coming.record(env)
	case event.ModelRetry:
		s.Heard, s.Retries.Retry = env.Time, &Retry{At: env.Time + p.WaitMS}
		s.Coming.First, s.Coming.Bytes = 0, 0
	case event.TaskFinished:
		if t := s.Running(); t == nil || t.ID != p.ID {
			return 0
		}
		s.Heard, s.Coming = 0, s.Coming.none()
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
		s.Heard, s.Coming = 0, s.Coming.none()
		s.Retries.endWait()
	case event.SessionResumed:
		s.Heard, s.Coming = 0, s.Coming.none()
		s.Retries.giveUp(env.Seq)
	default:
		return 0
	}
	return Tasks // Tasks shows what the main task does
}

func (c *Coming) record(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.RequestStarted:
		*c = c.none()
		c.Asked = env.Time
	case event.ModelReading:
		c.Reading.read(env.Time, p)
	case event.TextDelta:
		c.add(env.Time, len(p.Text), false)
	case event.ReasoningDelta:
		c.add(env.Time, len(p.Text), false)
	case event.CallDelta:
		c.add(env.Time, len(p.Text), true)
	case event.ModelFallback:
		c.First, c.Bytes, c.Reading = 0, 0, Reading{}
	}
}

// none returns an empty progress that keeps only the server's speed.
func (c Coming) none() Coming { return Coming{Reading: Reading{Speed: c.Reading.Speed}} }

// fewTokens is the minimum number of tokens from which a server's speed is measured.
const fewTokens = 32

// read records how much of the request is processed.
func (r *Reading) read(at int64, p event.ModelReading) {
	if n := p.Done - p.Cached; n >= fewTokens && p.TookMS > 0 {
		r.Speed = float64(n) / float64(p.TookMS)
	}
	r.Total, r.Done, r.At = p.Total, p.Done, at
}

// Left returns the processed percentage of a request, and the remaining time in milliseconds. Both are estimates,
// because servers report progress only after each batch of some thousand tokens. ok is false if no estimate is
// possible, such as after the estimated end.
func (r Reading) Left(now int64) (percent int, left int64, ok bool) {
	if r.Total <= 0 || r.Speed <= 0 {
		return 0, 0, false
	}
	done := float64(r.Done) + r.Speed*float64(max(0, now-r.At))
	if done >= float64(r.Total) {
		return 0, 0, false
	}
	return int(done * 100 / float64(r.Total)), int64((float64(r.Total) - done) / r.Speed), true
}

// Busy reports whether the server is still processing the request.
func (r Reading) Busy() bool { return r.Done < r.Total }
