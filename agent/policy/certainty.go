package policy

import (
	"slices"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// The levels of confidence that [Certainty] returns.
const (
	sureAll  = "high"
	surePart = "medium"
	sureNone = "low"
)

// Certainty returns how sure the policy is of an action's effect, and what could be done instead. confidence is high if
// the tables of commands describe the whole action, medium if a part runs code that the policy can't read, and low if a
// part is unknown. Certainty runs no git and counts no files, so it is cheap enough for every call.
func Certainty(p Policy, a action.Action, mode action.Mode) (confidence string, alternatives []string) {
	j := p.strictest(a, mode)
	var c action.ApprovalContext
	describe(&c, j.on, j.action, j.report)
	if j.report.Safer != "" && !slices.Contains(c.Alternatives, j.report.Safer) {
		c.Alternatives = append(c.Alternatives, j.report.Safer)
	}
	return sureness(j.action, j.report), c.Alternatives
}

func sureness(a action.Action, report shell.Report) string {
	switch a.Kind {
	case action.FileRead, action.FileWrite, action.FileDelete, action.Network, action.Connect, action.EnterPlan, action.PlanFile, action.Internal:
		return sureAll
	case action.Shell, action.Git:
	default: // keys for an unknown program, tools of MCP servers
		return sureNone
	}
	if len(report.Other) > 0 {
		return sureNone
	}
	sure := sureAll
	for _, c := range report.Commands {
		switch {
		case c.ReadOnly:
		case c.Effect == shell.Unknown && (c.Does() == shell.NotKnown || c.Does() == ""):
			return sureNone
		case c.Effect == shell.RunsCode:
			sure = surePart
		}
	}
	return sure
}
