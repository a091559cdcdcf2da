package panes

import "buddy/app/state"

// attachHint holds whether the line shows that says how to attach to the selected pane: below the first pane
// of a session until the next prompt, and when a person asks for it.
type attachHint struct {
	wanted bool // by the person
	first  int  // the main task during which the first pane came; 0 before
	over   bool // it was shown below the first pane for long enough
}

func (a *attachHint) shows() bool { return a.wanted || a.first != 0 && !a.over }

// toggle shows the line, or hides it.
func (a *attachHint) toggle() { a.wanted, a.over = !a.shows(), true }

// update looks whether another prompt is answered than the one during which the first pane came.
func (a *attachHint) update(s *state.State) {
	t := s.Running()
	switch {
	case len(s.Panes) == 0 || t == nil:
	case a.first == 0:
		a.first = t.ID
	case a.first != t.ID:
		a.over = true
	}
}
