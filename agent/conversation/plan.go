package conversation

import (
	"slices"

	"buddy/agent/reminder"
)

// How often a model is reminded of mode plan.
const (
	planEvery = 5 // answers between two reminders
	planWhole = 5 // of so many reminders one is the whole text
)

// planTold holds what a model was told of mode plan.
type planTold struct {
	on      bool // that it is on
	answers int  // of the model since it was told so
	told    int  // how often
	gone    bool // a compaction may have taken the plan out
}

// PlanDue says what a model has to be told of mode plan now.
type PlanDue uint8

// What is due.
const (
	PlanNothing PlanDue = iota
	PlanFull            // all there is to know
	PlanSparse          // that it is still on
	PlanOver            // that it has ended
)

// DuePlan returns what the model of a conversation is to be told before its next request, where mode plan
// is on or not, and, once, whether a compaction took out the plan. Attaching a reminder of such a kind is
// what counts as told.
func DuePlan(c *Conversation, on bool) (due PlanDue, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &c.known.plan
	switch {
	case p.on && !on:
		due = PlanOver
	case on && (!p.on || p.answers >= planEvery && p.told%planWhole == 0):
		due = PlanFull
	case on && p.answers >= planEvery:
		due = PlanSparse
	}
	gone, p.gone = p.gone, false
	return due, gone
}

// reminded takes up that a model was told something of these kinds.
func (p *planTold) reminded(kinds []string) {
	switch {
	case slices.Contains(kinds, reminder.Plan):
		p.on, p.answers = true, 0
		p.told++
	case slices.Contains(kinds, reminder.PlanExit):
		p.on, p.told = false, 0
	case slices.Contains(kinds, reminder.PlanText):
		p.gone = false
	}
}
