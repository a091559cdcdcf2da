package agent

import (
	"context"
	"errors"

	"buddy/agent/event"
	"buddy/agent/turn"
)

// Durable wraps every model call and every tool call of a runtime. See [turn.Durable].
type Durable = turn.Durable

var errNothingLeft = errors.New("nothing was interrupted")

// Continue resumes the exchange that an earlier process did not finish, and runs it to its outcome; Options.Replay
// holds its events. Calls with a result are not repeated. Of the calls without a result, a running command is found
// again, any other started call gets the result OutcomeUnknown, and a call that had not started does not run; the model
// may call it again. Continue is for callers that do not use Start.
func (r *Runtime) Continue(ctx context.Context) (Result, error) {
	r.tasks.mu.Lock()
	recovery := r.tasks.recovery
	if recovery == nil {
		r.tasks.mu.Unlock()
		return Result{}, errNothingLeft
	}
	r.tasks.agents.dropAll(r.shells)
	r.tasks.recovery = nil
	r.tasks.mu.Unlock()
	main := recovery.Branches[0]
	if main == nil || !main.Open {
		return Result{}, errNothingLeft
	}
	r.tasks.drivers.restore(main)
	ctx, t, err := r.tasks.begin(ctx, nil)
	if err != nil {
		return Result{}, err
	}
	return r.tasks.run(ctx, t, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		r.tasks.loop.KeepPartial(x, 0, main.Said())
		r.tasks.loop.Settle(ctx, ctx, x, main.Calls)
		t.on.conv.Steer(t.id)
		if main.Answered {
			return event.Completed, nil
		}
		return r.tasks.loop.Run(ctx, x)
	})
}
