package conversation

import (
	"slices"

	"buddy/agent/reminder"
)

// ToldOfPlan holds what a model was told of mode plan since the last compaction.
type ToldOfPlan struct {
	On      bool // that it is on
	Times   int  // how often
	Answers int  // of the model since it was told so
	Gone    bool // the compaction may have taken the plan out; it is said once
}

// TakePlan returns what the model of a conversation was told of mode plan.
func TakePlan(c *Conversation) ToldOfPlan {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.known.plan
	c.known.plan.Gone = false
	return told
}

// reminded takes up that a model was told something of these kinds.
func (p *ToldOfPlan) reminded(kinds []string) {
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
