package turn

import (
	"context"
	"iter"

	"buddy/agent/model"
	"buddy/tools"
)

// Durable carries every model call and every tool call of a runtime, so that an
// engine for durable work can record what came back and, when the work is done again
// after a crash, give that instead of calling.
//
// Without one the journal does this: what it has of an interrupted exchange comes back
// through agent.Options.Replay, and agent.Runtime.Continue goes on after the last recorded step.
//
// Its methods are called from several goroutines when calls overlap.
type Durable interface {
	// LLMCall returns the answer to req: what call yields, or what it yielded before.
	LLMCall(ctx context.Context, req model.Request, call func(context.Context) iter.Seq2[model.Delta, error]) iter.Seq2[model.Delta, error]
	// ToolCall returns the result of a call that may run: what run returns, or what it
	// returned before.
	ToolCall(ctx context.Context, call tools.Call, run func(context.Context) tools.Result) tools.Result
}

// durableModel is a model whose calls a Durable carries.
type durableModel struct {
	model.Model
	durable Durable
}

// WithDurable returns m with its calls carried by d, or m itself when d is nil.
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

// runTool runs a call with a function, durably if that is wanted. A panic is a result.
func (l *Loop) runTool(ctx context.Context, call tools.Call, run func(context.Context) tools.Result) tools.Result {
	return tools.RunSafely(call.Name, func() tools.Result {
		if l.o.Durable == nil {
			return run(ctx)
		}
		return l.o.Durable.ToolCall(ctx, call, run)
	})
}
