package agent

import (
	"context"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
)

// driverOf returns the part that drives the main tasks of a session.
func driverOf(s *tasks, parts []turn.Part) turn.Driver {
	for _, p := range parts {
		if d, ok := p.(turn.Driver); ok {
			d.Bind(driving(s))
			return d
		}
	}
	return undriven{s.loop}
}

// driving returns what a driver works with.
func driving(s *tasks) turn.Driving {
	return turn.Driving{
		Context: s.life.ctx, Loop: s.loop, Stream: s.stream, Approvals: s.approvals, Ledger: s.ledger, Now: s.clock.now,
		Submit: func(text string, accepted func()) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if err := s.takes(model.Message{Content: text}); err != nil {
				return err
			}
			accepted()
			s.enter(s.main, event.MainTask, s.newPrompt(text, nil))
			return nil
		},
		GoOn: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.main.task == nil {
				s.start(s.main, event.MainTask, nil, driven(s.driver, true))
			}
		},
		Waiting: func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.main.talk.Queue()) > 0
		},
	}
}

// driven returns the work of a main task. again means that it takes up what has ended or was interrupted.
func driven(by turn.Driver, again bool) work {
	return func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) { return by.Run(ctx, x, again) }
}

// undriven lets each main task end with its answer.
type undriven struct{ loop *turn.Loop }

func (undriven) Bind(turn.Driving)                 {}
func (undriven) Take(event.Command) bool           { return false }
func (undriven) Ended(event.Outcome, error) bool   { return false }
func (undriven) Waits() string                     { return "" }
func (undriven) Past() (func(event.Event), func()) { return func(event.Event) {}, func() {} }
func (u undriven) Run(ctx context.Context, x *turn.Exchange, _ bool) (event.Outcome, error) {
	return u.loop.Run(ctx, x)
}
