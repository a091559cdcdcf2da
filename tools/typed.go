package tools

import (
	"context"

	"buddy/agent/action"
)

// Handler plans and runs the calls of a tool with arguments of type A; see [Tool].
type Handler[A any] interface {
	PlanArgs(args A) (action.Action, error)
	RunArgs(ctx context.Context, call Call, args A) Result
}

// Typed turns a Handler into a Tool: it decodes the arguments of each call and refuses invalid ones. Tools embed it,
// and [New] initializes it.
type Typed[A any] struct {
	Schema
	handler Handler[A]
}

func (t *Typed[A]) bind(schema Schema, handler Handler[A]) { t.Schema, t.handler = schema, handler }

// typed is a Handler that embeds a Typed.
type typed[A any] interface {
	Handler[A]
	bind(schema Schema, handler Handler[A])
}

// New returns t as a tool with a name and a description; see [Define].
func New[A any, T typed[A]](t T, name, description string) T {
	t.bind(Define[A](name, description), t)
	return t
}

// planner is a Handler whose plan depends on the reader, see [Call].Reader.
type planner[A any] interface {
	PlanFor(reader int, args A) (action.Action, error)
}

// Plan describes the effects of Run.
func (t *Typed[A]) Plan(call Call) (action.Action, error) {
	args, err := Decode[A](call)
	if err != nil {
		return action.Action{}, err
	}
	if p, ok := t.handler.(planner[A]); ok {
		return p.PlanFor(call.Reader, args)
	}
	return t.handler.PlanArgs(args)
}

// Run executes the call.
func (t *Typed[A]) Run(ctx context.Context, call Call) Result {
	args, err := Decode[A](call)
	if err != nil {
		return Failure(err)
	}
	return t.handler.RunArgs(ctx, call, args)
}
