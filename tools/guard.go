package tools

import (
	"cmp"
	"fmt"

	"buddy/agent/action"
)

// PlanSafely is t.Plan(c), in which a panic is an error and an action of no kind is a Generic one.
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

// RunSafely returns what run returns for a call of a tool, in which a panic is a result.
func RunSafely(name string, run func() Result) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res = Problem(fmt.Sprintf("%s failed inside: %v", name, p))
		}
	}()
	return run()
}
