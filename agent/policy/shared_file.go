package policy

import "buddy/agent/action"

// reach returns the effect of a file change that its diff does not show, and the rule that therefore requires approval.
// Both are zero if there is no such effect.
func reach(a action.Action) (e action.Effect, rule string) {
	verb := "changes"
	if a.Kind == action.FileDelete && len(a.Paths) == 0 {
		verb = "deletes"
	}
	switch {
	case a.OtherNames > 0 && a.ReadOnly:
		return action.Effect{Verb: verb + " a read-only file and", Count: a.OtherNames, Unit: "other name"}, HardLinks
	case a.OtherNames > 0:
		return action.Effect{Verb: "also changes", Count: a.OtherNames, Unit: "other name"}, HardLinks
	case a.ReadOnly:
		return action.Effect{Verb: verb, Object: "a read-only file"}, ReadOnlyFile
	}
	return e, ""
}

// guardFile requires approval for a change that affects other names of a file, or a file that its owner made read-only.
// Modes and rules that allow changes don't cover such files.
func guardFile(a action.Action, mode action.Mode, v action.Verdict) action.Verdict {
	e, rule := reach(a)
	if rule == "" || v.Decision == action.Deny {
		return v
	}
	if why, _ := delicateFile(a); v.Decision == action.Ask && why != "" {
		v.Reason += ", and it " + e.Text()
		return v
	}
	v = action.Verdict{Decision: action.Ask, Reason: e.Text(), Rule: rule}
	if mode == action.ModeNone || mode == action.ModePlan {
		v.Decision = action.Deny
	}
	return v
}
