package turn

import (
	"context"
	"iter"

	"buddy/agent/model"
	"buddy/tools"
)

// Durable wraps every model call and every tool call of a runtime, so that a durable execution engine can record the
// results and, when the work is repeated after a crash, return the recorded result instead of calling.
//
// Without a Durable the journal has this role: agent.Options.Replay restores an interrupted exchange, and
// agent.Runtime.Continue resumes after the last recorded step.
//
// Its methods are called from several goroutines when calls overlap.
type Durable interface {
	// LLMCall returns the deltas of a model request: those from call or, after a crash, those that were recorded for req.
	LLMCall(ctx context.Context, req model.Request, call func(context.Context) iter.Seq2[model.Delta, error]) iter.Seq2[model.Delta, error]
	// ToolCall returns the result of a tool call: the one from run or, after a crash, the one that was recorded for call.
	ToolCall(ctx context.Context, call tools.Call, run func(context.Context) tools.Result) tools.Result
}

// durableModel sends the calls of a model through a Durable.
type durableModel struct {
	model.Model
	durable Durable
}

// WithDurable returns m with its calls wrapped by d, or m itself when d is nil.
func WithDurable(m model.Model, d Durable) model.Model {
	if d == nil {
		return m
	}
	return durableModel{m, d}
}

// Stream asks the model through the Durable.
func (m durableModel) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return m.durable.LLMCall(ctx, req, func(ctx context.Context) iter.Seq2[model.Delta, error] { return m.Model.Stream(ctx, req) })
}

// runTool runs a call, through the Durable if there is one. A panic becomes an error result.
func (l *Loop) runTool(ctx context.Context, call tools.Call, run func(context.Context) tools.Result) tools.Result {
	return tools.RunSafely(call.Name, func() tools.Result {
		if l.o.Durable == nil {
			return run(ctx)
		}
		return l.o.Durable.ToolCall(ctx, call, run)
	})
}
