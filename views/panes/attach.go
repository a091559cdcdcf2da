package panes

import (
	"slices"

	"buddy/agent/event"
	"buddy/app/state"
)

// attachHint holds whether the line shows that says how to attach to the selected pane: below the first pane
// of a session until the next prompt, and when a person asks for it.
type attachHint struct {
	wanted bool // by the person
	first  int  // the prompt's task during which the first pane came; 0 before
	over   bool // it was shown below the first pane for long enough
}

func (a *attachHint) shows() bool { return a.wanted || a.first != 0 && !a.over }

// toggle shows the line, or hides it.
func (a *attachHint) toggle() { a.wanted, a.over = !a.shows(), true }

// update looks whether another prompt came since the one during which the first pane opened.
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
