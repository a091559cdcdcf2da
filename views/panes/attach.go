package panes

import (
	"slices"

	"buddy/agent/event"
	"buddy/app/state"
)

// attachHint decides whether the command that attaches to the selected pane is shown: below the first pane of a session
// until the next prompt, and when a person asks for it.
type attachHint struct {
	wanted bool // a person asked for it
	first  int  // task of the prompt during which the first pane opened; 0: none yet
	over   bool // it was shown below the first pane long enough
}

func (a *attachHint) shows() bool { return a.wanted || a.first != 0 && !a.over }

// toggle shows or hides the line.
func (a *attachHint) toggle() { a.wanted, a.over = !a.shows(), true }

// update hides the automatic hint at the next prompt after the one during which the first pane opened.
func (a *attachHint) update(s *state.State) {
	if len(s.Panes) == 0 || a.over {
		return
	}
	for _, t := range slices.Backward(s.Tasks) {
		if t.Kind == event.MainTask {
			a.over = a.first != 0 && t.ID != a.first
			a.first = t.ID
			return
		}
	}
}
