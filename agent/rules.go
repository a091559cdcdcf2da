package agent

import (
	"slices"

	"buddy/agent/action"
	"buddy/agent/event"
)

// SetRules replaces the rules that the session began with; those that a person added in it
// stay. What is open and would be denied now is denied; nothing that was asked about
// becomes allowed by itself, because the question was asked under the old rules.
func (r *Runtime) SetRules(rules []action.Rule) { r.asks.setRules(rules) }

func (a *approvals) setRules(rules []action.Rule) {
	a.mu.Lock()
	own := slices.DeleteFunc(slices.Clone(a.policy.Rules), func(r action.Rule) bool { return r.Source != action.FromSession })
	a.policy.Rules = slices.Concat(rules, own)
	a.mu.Unlock()
	for _, id := range a.ids(func(*ask) bool { return true }) {
		a.mu.Lock()
		q := a.open[id]
		a.mu.Unlock()
		if q == nil {
			continue
		}
		if v := a.judge(q.act); v.Decision == action.Deny {
			a.settle(event.ApprovalAnswered{ID: id, By: "policy", Decision: event.Reject, Reason: v.Reason})
		}
	}
}
