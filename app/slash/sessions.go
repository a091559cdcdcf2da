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

// Frontend holds what logins and slow work need of where they were asked for: the full screen, or a line of a
// terminal.
type Frontend struct {
	Command func(event.Command)          // for the runtime
	Say     func(text string)            // for the person
	Info    func() event.SessionCreated  // what is known of the session now
	Beside  func(work func() func())     // works elsewhere, and then here with what that returns
	Failed  func(what string, err error) // says why it came to nothing
}

// Inform works elsewhere and gives what came of it to use, or says that what, a command, has
// failed.
func Inform(s Frontend, what string, work func() (string, error), use func(string)) {
	s.Beside(func() func() {
		text, err := work()
		return func() {
			if err != nil {
				s.Failed(what, err)
				return
			}
			use(text)
		}
	})
}
