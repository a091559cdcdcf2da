package tools

import (
	"fmt"

	"buddy/agent/action"
)

// PlanSafely is t.Plan(c), in which a panic is an error.
func PlanSafely(t Tool, c Call) (act action.Action, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s failed inside: %v", c.Name, p)
		}
	}()
	return t.Plan(c)
}

// RunSafely returns what run returns for a call of a tool, in which a panic is a result.
func RunSafely(name string, run func() Result) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res = Result{Content: fmt.Sprintf("Tool error: %s failed inside: %v", name, p), IsError: true}
		}
	}()
	return run()
}
