package conversation

import (
	"slices"

	"buddy/agent/reminder"
)

// PlanState records the plan mode reminders that a model has got since the last compaction.
type PlanState struct {
	On      bool // the last reminder said that plan mode is on
	Times   int  // number of reminders
	Answers int  // number of answers since the last reminder
	Gone    bool // a compaction may have removed the plan; reported once
}

// TakePlan returns which plan mode reminders the model has got. Later calls no longer report Gone.
func TakePlan(c *Conversation) PlanState {
	c.mu.Lock()
	defer c.mu.Unlock()
	plan := c.known.plan
	c.known.plan.Gone = false
	return plan
}

// reminded updates the state after reminders of these kinds.
func (p *PlanState) reminded(kinds []string) {
	switch {
	case slices.Contains(kinds, reminder.Plan):
		p.On, p.Answers = true, 0
		p.Times++
	case slices.Contains(kinds, reminder.PlanExit):
		p.On, p.Times = false, 0
	case slices.Contains(kinds, reminder.PlanText):
		p.Gone = false
	}
}
