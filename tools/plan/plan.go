// Package plan holds the tools enter_plan and exit_plan, with which the model starts plan mode and submits its plan.
//
//	deferred := tools.NewDeferred(plan.NewEnter(), plan.NewExit())
package plan

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"buddy/agent/action"
	"buddy/tools"
)

//go:embed enter_plan.md
var enterText string

//go:embed exit_plan.md
var exitText string

var errNoPlan = errors.New("there is no plan mode here")

type planArgs struct {
	Why string `json:"why,omitempty" schema:"-"`
}

type enterPlan struct{ tools.Typed[planArgs] }

// NewEnter returns the tool enter_plan, which switches plan mode on.
func NewEnter() tools.Tool { return tools.New(&enterPlan{}, "enter_plan", enterText) }

func (t *enterPlan) PlanArgs(args planArgs) (action.Action, error) {
	return action.Action{
		Kind: action.EnterPlan, Tool: t.Name(), Why: args.Why, Risk: action.Low,
		Preview: "enter plan mode: the model reads and writes a plan; nothing else changes until you approve it",
	}, nil
}

func (t *enterPlan) RunArgs(_ context.Context, call tools.Call, _ planArgs) tools.Result {
	if call.Plan == nil {
		return tools.Failure(errNoPlan)
	}
	text, err := call.Plan.Enter()
	if err != nil {
		return tools.Failure(err)
	}
	return tools.Success(text)
}

type exitPlan struct{ tools.Typed[planArgs] }

// NewExit returns the tool exit_plan, which shows the plan to the user and waits for the user's decision.
func NewExit() tools.Tool { return tools.New(&exitPlan{}, "exit_plan", exitText) }

// Patient returns true: the user may take any time to read a plan.
func (*exitPlan) Patient(tools.Call) bool { return true }

func (t *exitPlan) PlanArgs(args planArgs) (action.Action, error) {
	return tools.PlanInternal(t.Name(), args.Why), nil
}

// Recover shows the plan again if the user had not decided when the earlier process ended.
func (t *exitPlan) Recover(ctx context.Context, call tools.Call) tools.Result {
	return t.Run(ctx, call)
}

func (t *exitPlan) RunArgs(ctx context.Context, call tools.Call, _ planArgs) tools.Result {
	if call.Plan == nil {
		return tools.Failure(errNoPlan)
	}
	decision, err := call.Plan.Exit(ctx)
	if err != nil {
		return tools.Failure(err)
	}
	shown := decision.Decision
	if decision.Remark != "" {
		shown += ": " + decision.Remark
	}
	res := tools.Success(strings.TrimSpace(shown+"\n"+decision.Plan+"\n"+decision.Todo), decision.Note)
	res.Tail, res.Outcome = shown+"\n"+decision.Todo, decision.Decision
	return res
}
