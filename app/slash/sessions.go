package slash

import (
	"buddy/agent/event"
	"buddy/app/state"
)

// Now holds what a screen knows of its session.
type Now struct {
	Info    event.SessionCreated  `json:"info"`
	Prompts []state.Border        `json:"-"`              // that one can go back to before, the oldest first
	Busy    string                `json:"busy,omitempty"` // why the session can't be left; "" if it can
	Review  *event.ReviewFinished `json:"-"`              // the last one that found something, if the screen has it
	Secret  string                `json:"-"`              // what was typed unseen for the command; it goes no further than to a command that runs where it was typed
	Left    []string              `json:"left,omitempty"` // the tasks that have not ended, which the screen can leave running
}
