package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"buddy/agent/action"
)

// What a question may have, in bytes.
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

// askPayload is what the model gets.
type askPayload struct {
	Answer string `json:"answer"`
	Note   string `json:"note,omitempty"`
}

// noAnswer is what it gets where nobody can be asked.
type noAnswer struct {
	Note string `json:"note"`
}

type askUser struct{ Schema }

// NewAskUser returns the tool ask_user: a question to the person (D24). Where nobody can
// be asked there is no answer, and a note says so.
func NewAskUser() Tool { return &askUser{define[askArgs]("ask_user", askUserText)} }

// Patient is true: a person may take any time to answer.
func (*askUser) Patient(Call) bool { return true }

func (t *askUser) Plan(call Call) (action.Action, error) {
	args, err := decode[askArgs](call)
	if err != nil {
		return action.Action{}, err
	}
	if len(args.Question) > maxQuestion {
		return action.Action{}, invalid("question: longer than %d bytes", maxQuestion)
	}
	for i, c := range args.Choices {
		if len(c) > maxChoice {
			return action.Action{}, invalid("choices[%d]: longer than %d bytes", i, maxChoice)
		}
	}
	act := planInternal(t.Name(), args.Why)
	act.Preview = args.Question
	return act, nil
}

// Recover asks once more: the question was open when buddy died.
func (t *askUser) Recover(ctx context.Context, call Call) Result { return t.Run(ctx, call) }

func (t *askUser) Run(ctx context.Context, call Call) Result {
	args, err := decode[askArgs](call)
	if err != nil {
		return failure(err)
	}
	answer, err := "", ErrNobody
	if call.Ask != nil {
		answer, err = call.Ask(ctx, args.Question, args.Choices)
	}
	if errors.Is(err, ErrNobody) {
		const note = "nobody was there to ask, so there is no answer; choose the obvious way and say which you took"
		return success(noAnswer{note}, note)
	}
	if err != nil {
		return failure(fmt.Errorf("the question was not answered: %w", err))
	}
	payload := askPayload{Answer: head(answer, outputBytes)}
	if answer == "" {
		payload.Note = "the person gave an empty answer"
	}
	return success(payload, payload.Answer)
}
