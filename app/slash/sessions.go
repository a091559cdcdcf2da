package slash

import (
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/state"
)

// Now holds what a screen knows about its session.
type Now struct {
	Info    event.SessionCreated  `json:"info"`
	Prompts []state.Border        `json:"-"`              // the prompts that a rewind can return to, the oldest first
	Busy    string                `json:"busy,omitempty"` // why the session can't be left; "" if it can
	Review  *event.ReviewFinished `json:"-"`              // the last one with findings, if the screen has it
	Secret  string                `json:"-"`              // typed unseen for the command; only a command that runs where it was typed gets it
	Limits  []model.RateLimit     `json:"-"`              // of the account, as of the last answer
	Left    []string              `json:"left,omitempty"` // the tasks that have not ended, which the screen can leave running
}
