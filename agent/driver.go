package agent

import (
	"context"
	"slices"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/agent/turn"
)

// drivers holds the parts of a session that control its main tasks, in the order of Options.Parts.
type drivers []turn.Driver

// driversOf returns the drivers among parts, connected to s.
func driversOf(s *tasks, parts []turn.Part) (all drivers) {
	for _, p := range parts {
		if d, ok := p.(turn.Driver); ok {
			d.Bind(driving(s))
			all = append(all, d)
		}
	}
	return all
}

// driving returns what a driver needs from the runtime.
func driving(s *tasks) turn.Driving {
	return turn.Driving{
		Loop: s.loop, Stream: s.stream, Approvals: s.approvals, Ledger: s.ledger, Now: s.clock.now,
		Closing: s.life.closing.Load, Continue: func() { continueMain(s) }, Cancel: s.cancel,
		Start: func(line string, do turn.Work) { beginTyped(s, line, line+": not done", do) },
		Submit: func(text string, accepted func()) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if err := s.refusal(model.Message{Content: text}); err != nil {
				return err
			}
			accepted()
			s.enter(s.main, event.MainTask, s.newPrompt(text, nil))
			return nil
		},
		Waiting: func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.main.conv.Queue()) > 0
		},
	}
}

// driven returns the work of a main task: the first driver that takes the task runs it, otherwise the loop. again means
// that the task continues an earlier one.
func driven(s *tasks, again bool) work {
	return func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		for _, d := range s.drivers {
			if outcome, err := d.Run(ctx, x, again); outcome != "" {
				return outcome, err
			}
		}
		return s.loop.Run(ctx, x)
	}
}

// continueMain starts a main task that continues an earlier one, unless a main task is running.
func continueMain(s *tasks) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.main.task == nil {
		s.start(s.main, event.MainTask, nil, driven(s, true))
	}
}

// handle gives a command to the drivers until one executes it, and reports whether one did.
func (all drivers) handle(c event.Command) bool {
	return slices.ContainsFunc(all, func(d turn.Driver) bool { return d.Handle(c) })
}

// restore gives all drivers the recovery state of the main conversation (nil: none), and reports whether one of them
// will continue the interrupted work.
func (all drivers) restore(l *record.Branch) (byDriver bool) {
	for _, d := range all {
		byDriver = d.Left(l) || byDriver
	}
	return byDriver
}

// waits returns a text for the user about the work that [event.Continue] would continue, "" for none.
func (all drivers) waits() string {
	for _, d := range all {
		if text := d.Waits(); text != "" {
			return text
		}
	}
	return ""
}

// ended reports the end of a main task to all drivers, and returns whether one of them wants another task.
func (all drivers) ended(outcome event.Outcome, err error) (again bool) {
	for _, d := range all {
		again = d.Ended(outcome, err) || again
	}
	return again
}
