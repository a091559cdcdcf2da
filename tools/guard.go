package tools

import (
	"cmp"
	"fmt"

	"buddy/agent/action"
)

// PlanSafely calls t.Plan. It turns a panic into an error, and an action without a kind into a Generic one.
func PlanSafely(t Tool, c Call) (act action.Action, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s failed inside: %v", c.Name, p)
		}
	}()
	act, err = t.Plan(c)
	if act.Kind == "" && err == nil {
		act.Kind, act.Op = action.Generic, cmp.Or(act.Op, c.Name)
	}
	return act, err
}

// RunSafely calls run for a call of the tool name. It turns a panic into a failed result.
func RunSafely(name string, run func() Result) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res = Problem(fmt.Sprintf("%s failed inside: %v", name, p))
		}
	}()
	return run()
}
