package basic

import (
	"context"
	_ "embed"
	"errors"

	"buddy/agent/action"
	"buddy/tools"
)

//go:embed agent.md
var agentText string

type agentArgs struct {
	Type       string `json:"type"`
	Prompt     string `json:"prompt"`
	Title      string `json:"title"`
	Background *bool  `json:"background,omitempty"`
	Why        string `json:"why,omitempty" schema:"-"`
}

type agent struct{ tools.Typed[agentArgs] }

// NewAgent returns the tool agent, which delegates a part of the work to a subagent.
func NewAgent() tools.Tool { return tools.New(&agent{}, tools.Agent, agentText) }

// Patient returns true: calls have no general time limit, because a subagent has limits of its own.
func (*agent) Patient(tools.Call) bool { return true }

// Beside returns true, because several subagents can work at the same time.
func (*agent) Beside(tools.Call) bool { return true }

// Recover returns an error for a call that was running when buddy ended, because subagents are not resumed.
func (*agent) Recover(context.Context, tools.Call) tools.Result {
	return tools.Result{Content: "interrupted: buddy ended while the agent worked. What it did stays; look at it before you call an agent again.", IsError: true}
}

func (t *agent) PlanArgs(args agentArgs) (action.Action, error) {
	act := tools.PlanInternal(t.Name(), args.Why)
	act.Op = args.Type + ": " + args.Title
	return act, nil
}

func (t *agent) RunArgs(ctx context.Context, call tools.Call, args agentArgs) tools.Result {
	if call.Agent == nil {
		return tools.Failure(errors.New("there are no subagents here"))
	}
	return call.Agent(ctx, call, tools.Subagent{Type: args.Type, Prompt: args.Prompt, Title: args.Title, Background: args.Background})
}
