package basic

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"buddy/agent/action"
	"buddy/tools"
)

// Limits of a question, in bytes.
const (
	maxQuestion = 2000
	maxChoice   = 200
)

//go:embed ask_user.md
var askUserText string

type askArgs struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitempty" max:"9"`
	Why      string   `json:"why,omitempty" schema:"-"`
}

type askUser struct{ tools.Typed[askArgs] }

// NewAskUser returns the tool ask_user, which asks the user a question. If nobody can be asked, the result says so
// instead of holding an answer.
func NewAskUser() tools.Tool {
	return tools.New(&askUser{}, "ask_user", askUserText)
}

// Patient returns true: the user may take any time to answer.
func (*askUser) Patient(tools.Call) bool { return true }

func (t *askUser) PlanArgs(args askArgs) (action.Action, error) {
	if len(args.Question) > maxQuestion {
		return action.Action{}, tools.Invalid("question: longer than %d bytes", maxQuestion)
	}
	for i, c := range args.Choices {
		if len(c) > maxChoice {
			return action.Action{}, tools.Invalid("choices[%d]: longer than %d bytes", i, maxChoice)
		}
	}
	act := tools.PlanInternal(t.Name(), args.Why)
	act.Preview = args.Question
	return act, nil
}

// Recover asks again if the user had not answered when the earlier process ended.
func (t *askUser) Recover(ctx context.Context, call tools.Call) tools.Result { return t.Run(ctx, call) }

func (t *askUser) RunArgs(ctx context.Context, call tools.Call, args askArgs) tools.Result {
	answer, err := "", tools.ErrNobody
	if call.Ask != nil {
		answer, err = call.Ask(ctx, tools.Question{Text: args.Question, Choices: args.Choices})
	}
	if errors.Is(err, tools.ErrNobody) {
		return tools.Success("", "nobody was there to ask, so there is no answer; choose the obvious way and say which you took")
	}
	if err != nil {
		return tools.Failure(fmt.Errorf("the question was not answered: %w", err))
	}
	note := ""
	if answer == "" {
		note = "the person gave an empty answer"
	}
	return tools.Success(tools.Head(answer, tools.OutputBytes), note)
}
