package policy

import "buddy/agent/action"

// basePlan is the verdict in mode ask without rules on what belongs to mode plan.
func basePlan(p Policy, a action.Action) action.Verdict {
	ask := action.Verdict{Decision: action.Ask, Reason: "nothing is changed from then on until you approve a plan", Rule: "plan mode"}
	switch {
	case a.Kind == action.EnterPlan:
		return ask
	case p.Plan == "" || a.Path != p.Plan || len(a.Paths)+len(a.Targets) > 0:
		ask.Reason, ask.Rule = "it is not the file of the session's plan", "unknown action"
		return ask
	}
	return action.Verdict{Decision: action.Allow, Reason: "writes the plan of the session, which is no file of yours", Rule: "plan file"}
}

// inPlan applies mode plan to the verdict v; base is the verdict without rules, which allow nothing in this
// mode.
func inPlan(a action.Action, base, v action.Verdict) action.Verdict {
	const rule = "mode " + string(action.ModePlan)
	switch {
	case a.Kind == action.EnterPlan:
		return action.Verdict{Decision: action.Allow, Reason: "mode is plan already", Rule: rule}
	case base.Decision != action.Allow || v.Decision != action.Allow || a.Kind == action.Internal && a.Mutation:
		return action.Verdict{
			Decision: action.Deny, Rule: rule,
			Reason: "mode plan allows only reading: " + base.Reason + ". Put it into the plan; it can run once the plan is approved",
		}
	}
	return v
}
