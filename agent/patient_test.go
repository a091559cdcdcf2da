package agent

import (
	"context"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/tools"
)

// question is a tool that waits for a person. It notes whether its time is limited.
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

// The limit of a tool's time does not hold for one that waits for a person (D25).
func TestPatientToolIsNotLimitedD25(t *testing.T) {
	tool := &question{limited: true}
	r := &Runtime{opts: Options{ToolTimeout: time.Minute}}
	res := r.run(t.Context(), &task{progress: progress{failed: make(map[string]failed)}}, &job{tool: tool, call: tools.Call{Name: "question"}})
	if res.IsError || tool.limited {
		t.Errorf("run = %+v, limited: %v", res, tool.limited)
	}
}
