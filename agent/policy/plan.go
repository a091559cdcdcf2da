package policy

import "buddy/agent/action"

// basePlan returns the verdict of ask mode without rules on entering plan mode or writing the plan file.
func basePlan(p Policy, a action.Action) action.Verdict {
	ask := action.Verdict{Decision: action.Ask, Reason: "nothing changes until you approve a plan", Rule: "plan mode"}
	switch {
	case a.Kind == action.EnterPlan:
		return ask
	case p.Plan == "" || a.Path != p.Plan || len(a.Paths)+len(a.Targets) > 0:
		ask.Reason, ask.Rule = "it is not the session's plan file", "unknown action"
		return ask
	}
	return action.Verdict{Decision: action.Allow, Reason: "writes the session's plan, which is not one of your files", Rule: "plan file"}
}

// inPlan applies plan mode to the verdict v. base is the verdict without rules. Both must allow the action, because no
// rule can loosen plan mode.
func inPlan(a action.Action, base, v action.Verdict) action.Verdict {
	rule := modeRule(action.ModePlan)
	switch {
	case a.Kind == action.EnterPlan:
		return action.Verdict{Decision: action.Allow, Reason: "plan mode is already on", Rule: rule}
	case base.Decision != action.Allow || v.Decision != action.Allow || a.Kind == action.Internal && a.Mutation:
		return action.Verdict{
			Decision: action.Deny, Rule: rule,
			Reason: "plan mode allows only reading: " + base.Reason + ". Put it in the plan; it can run after the plan is approved",
		}
	}
	return v
}
