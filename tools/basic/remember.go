package basic

import (
	"context"
	_ "embed"
	"errors"

	"buddy/agent/action"
	"buddy/tools"
)

//go:embed remember.md
var rememberText string

type rememberArgs struct {
	Text  string `json:"text"`
	Kind  string `json:"kind,omitempty"`
	Scope string `json:"scope,omitempty"`
	Why   string `json:"why,omitempty" schema:"-"`
}

type remember struct{ tools.Typed[rememberArgs] }

// NewRemember returns the tool remember, which proposes to the user a lesson for later sessions.
func NewRemember() tools.Tool { return tools.New(&remember{}, "remember", rememberText) }

func (t *remember) PlanArgs(args rememberArgs) (action.Action, error) {
	return tools.PlanInternal(t.Name(), args.Why), nil
}

func (t *remember) RunArgs(ctx context.Context, call tools.Call, args rememberArgs) tools.Result {
	if call.Remember == nil {
		return tools.Failure(errors.New("there is no memory here"))
	}
	id, err := call.Remember(ctx, tools.Lesson{Text: args.Text, Kind: args.Kind, Scope: args.Scope})
	if err != nil {
		return tools.Failure(err)
	}
	return tools.Success("proposed: "+args.Text, "as "+id+"; it takes effect only if the user accepts it")
}
