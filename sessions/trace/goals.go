package trace

import (
	"buddy/agent/event"
)

// maxGoals limits the goals in a trace; the latest are kept.
const maxGoals = 20

// Goal sums up the work for one goal.
type Goal struct {
	Number int           `json:"number"` // within the session, from 1
	Text   string        `json:"goal"`   // its beginning
	State  string        `json:"state"`
	Reason string        `json:"reason,omitempty"` // of the state
	Checks int           `json:"checks"`
	Used   event.GoalUse `json:"used"`
	Limit  event.GoalUse `json:"limit"`
}

// goal handles events about goals.
func (t *Trace) goal(e event.Event) {
	switch p := e.(type) {
	case event.GoalSet:
		t.Goals = appendNewest(t.Goals, maxGoals, Goal{Number: p.ID, Text: begin(p.Goal), State: string(event.GoalActive), Limit: p.Limit})
	case event.GoalChecked:
		if g := t.goalOf(p.ID); g != nil {
			g.Checks++
		}
	case event.GoalChanged:
		if g := t.goalOf(p.ID); g != nil {
			g.State, g.Reason, g.Used, g.Limit = string(p.State), begin(p.Reason), p.Used, p.Limit
		}
	}
}

// goalOf returns the goal with a number, nil if it was dropped.
func (t *Trace) goalOf(number int) *Goal {
	for i := range t.Goals {
		if t.Goals[i].Number == number {
			return &t.Goals[i]
		}
	}
	return nil
}
