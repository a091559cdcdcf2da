package turn

import (
	"context"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/agent/settings"
	"buddy/tools"
)

// question is a tool that waits for a person. It records whether its time is limited.
type question struct{ limited bool }

func (*question) Definition() model.ToolDef { return model.ToolDef{Name: "question"} }

func (*question) Plan(tools.Call) (action.Action, error) {
	return action.Action{Kind: action.Internal}, nil
}

func (q *question) Run(ctx context.Context, _ tools.Call) tools.Result {
	_, q.limited = ctx.Deadline()
	return tools.Result{Content: "yes"}
}

func (*question) Patient(tools.Call) bool { return true }

// The time limit of tools does not apply to one that waits for a person.
func TestPatientToolIsNotLimited(t *testing.T) {
	tool := &question{limited: true}
	b := &batch{loop: New(Options{Calls: settings.Calls{Timeout: time.Minute}}, Parts{}), x: NewExchange(1, nil, nil, nil)}
	res := b.run(t.Context(), &job{tool: tool, call: tools.Call{Name: "question"}})
	if res.IsError || tool.limited {
		t.Errorf("run = %+v, limited: %v", res, tool.limited)
	}
}
