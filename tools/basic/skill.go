package basic

import (
	"context"
	_ "embed"
	"errors"

	"buddy/agent/action"
	"buddy/tools"
)

//go:embed skill.md
var skillText string

type skillArgs struct {
	Name string `json:"name"`
	Args string `json:"args,omitempty"`
	Why  string `json:"why,omitempty" schema:"-"`
}

type loadSkill struct{ tools.Typed[skillArgs] }

// NewSkill returns the tool skill, which returns the text of a skill.
func NewSkill() tools.Tool { return tools.New(&loadSkill{}, "skill", skillText) }

// Patient returns true: calls have no general time limit, because a command in the text of a skill may wait for
// approval.
func (*loadSkill) Patient(tools.Call) bool { return true }

func (t *loadSkill) PlanArgs(args skillArgs) (action.Action, error) {
	return tools.PlanInternal(t.Name(), args.Why), nil
}

func (t *loadSkill) RunArgs(ctx context.Context, call tools.Call, args skillArgs) tools.Result {
	if call.Skill == nil {
		return tools.Failure(errors.New("there are no skills here"))
	}
	text, err := call.Skill(ctx, args.Name, args.Args)
	if err != nil {
		return tools.Failure(err)
	}
	return tools.Success(text)
}
