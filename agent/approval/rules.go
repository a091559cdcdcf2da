package approval

import (
	"reflect"
	"slices"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Permit adds rules for the rest of the session, unless they exist.
func (b *Broker) Permit(rules ...action.Rule) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range rules {
		if !slices.ContainsFunc(b.policy.Rules, same(r)) {
			b.policy = b.policy.With(r)
		}
	}
}

// Lend adds rules until the next prompt, and publishes them. Like all allowing rules, they are weaker than rules that
// deny or ask.
func (b *Broker) Lend(task int, rules ...action.Rule) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range rules {
		if slices.ContainsFunc(b.policy.Rules, same(r)) {
			continue
		}
		b.policy, b.lent = b.policy.With(r), append(b.lent, r)
		b.stream.Publish(task, 0, event.RuleAdded{Rule: r, Scope: "prompt"})
	}
}

// BeginPrompt removes lent rules and ends the suspension of auto mode after a prompt injection, which both last only
// until the next prompt.
func (b *Broker) BeginPrompt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.suspended != nil {
		b.turnTo(0, b.follows(*b.suspended))
	}
	for _, r := range b.lent {
		if i := slices.IndexFunc(b.policy.Rules, same(r)); i >= 0 {
			b.policy.Rules = slices.Delete(slices.Clone(b.policy.Rules), i, i+1)
		}
	}
	b.lent = nil
}

func same(r action.Rule) func(action.Rule) bool {
	return func(other action.Rule) bool { return reflect.DeepEqual(other, r) }
}

// Rules returns the rules that apply now.
func (b *Broker) Rules() []action.Rule {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.policy.Rules)
}

// RemoveRule removes the first rule that equals r. Open requests stay open.
func (b *Broker) RemoveRule(r action.Rule) {
	b.mu.Lock()
	i := slices.IndexFunc(b.policy.Rules, same(r))
	if i >= 0 {
		b.policy.Rules = slices.Delete(slices.Clone(b.policy.Rules), i, i+1)
	}
	b.mu.Unlock()
	if i < 0 {
		b.stream.Reject("this rule no longer exists: %s", r)
		return
	}
	scope := "settings"
	if r.Source == action.FromSession {
		scope = "session"
	}
	b.stream.Publish(0, 0, event.RuleRemoved{Rule: r, Scope: scope})
}

// SetRules replaces the rules that the session started with; rules that the user added in this session stay. Open
// requests that the new rules deny are denied. Requests that they allow stay open, because the user was asked under the
// old rules.
func (b *Broker) SetRules(rules []action.Rule) {
	b.mu.Lock()
	own := slices.DeleteFunc(slices.Clone(b.policy.Rules), func(r action.Rule) bool { return r.Source != action.FromSession })
	b.policy.Rules = slices.Concat(rules, own)
	b.mu.Unlock()
	for _, id := range b.ids(func(*ask) bool { return true }) {
		b.mu.Lock()
		q := b.open[id]
		b.mu.Unlock()
		if q == nil {
			continue
		}
		if v := b.Judge(q.Action, q.Most); v.Decision == action.Deny {
			b.settle(event.ApprovalAnswered{ID: id, By: "policy", Decision: event.Deny, Reason: v.Reason})
		}
	}
}
