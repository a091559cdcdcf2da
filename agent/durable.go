package agent

import (
	"context"
	"errors"
	"iter"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// Durable carries every model call and every tool call of a runtime (K04), so that an
// engine for durable work can record what came back and, when the work is done again
// after a crash, give that instead of calling.
//
// Without one the journal does this: what it has of an interrupted exchange comes back
// through Options.Replay, and [Runtime.Continue] goes on after the last recorded step.
//
// Its methods are called from several goroutines when calls overlap.
type Durable interface {
	// LLMCall returns the answer to req: what call yields, or what it yielded before.
	LLMCall(ctx context.Context, req model.Request, call func(context.Context) iter.Seq2[model.Delta, error]) iter.Seq2[model.Delta, error]
	// ToolCall returns the result of a call that may run: what run returns, or what it
	// returned before.
	ToolCall(ctx context.Context, call tools.Call, run func(context.Context) tools.Result) tools.Result
}

// deltas asks a model, durably if that is wanted.
func (r *Runtime) deltas(ctx context.Context, m model.Model, req model.Request) iter.Seq2[model.Delta, error] {
	if r.opts.Durable == nil {
		return m.Stream(ctx, req)
	}
	return r.opts.Durable.LLMCall(ctx, req, func(ctx context.Context) iter.Seq2[model.Delta, error] { return m.Stream(ctx, req) })
}

// runTool runs a tool, durably if that is wanted.
func (r *Runtime) runTool(ctx context.Context, tool tools.Tool, call tools.Call) tools.Result {
	run := func(ctx context.Context) tools.Result { return tool.Run(ctx, call) }
	return guarded(call.Name, func() tools.Result {
		if r.opts.Durable == nil {
			return run(ctx)
		}
		return r.opts.Durable.ToolCall(ctx, call, run)
	})
}

var errNothingLeft = errors.New("nothing was interrupted")

// Continue drives an exchange that an earlier process did not finish, from the events of
// Options.Replay, to its outcome. No call that has a result is repeated: a command that
// was running is found again, any other tool that had started gets OutcomeUnknown, and
// what had not started does not run: the model may call it again. It is for callers who do
// not Start.
func (r *Runtime) Continue(ctx context.Context) (Result, error) {
	r.mu.Lock()
	left := r.left[r.main]
	delete(r.left, r.main)
	r.mu.Unlock()
	if left == nil {
		return Result{}, errNothingLeft
	}
	ctx, t, err := r.begin(ctx, nil)
	if err != nil {
		return Result{}, err
	}
	return r.runTask(ctx, t, func(ctx context.Context, t *task) (event.Outcome, error) {
		r.keepPartial(t, left.partial)
		r.settleCalls(ctx, ctx, t, left)
		r.takeQueued(t)
		if left.answered {
			return event.Completed, nil
		}
		return r.exchange(ctx, t)
	})
}
