package plan

import (
	"cmp"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Question is the title under which a person is asked about a plan.
const Question = "Carry out this plan?"

// Choices returns the answers that a plan can be given, where a mode was before it. Mode edits is offered only
// from a stricter one; it is the only answer that leads to a looser mode.
func Choices(before action.Mode) []string {
	if before != action.ModeEdits && action.Stricter(before, action.ModeEdits) == before {
		return []string{event.PlanApprove, event.PlanEdits, event.PlanKeep, event.PlanDiscard}
	}
	return []string{event.PlanApprove, event.PlanKeep, event.PlanDiscard}
}

// withEdits says what mode edits means for a plan.
const withEdits = "Yes, and accept edits in this folder"

// approving says what carrying out a plan means, by the mode from before it.
var approving = map[action.Mode]string{
	action.ModeNone:   "Yes, and deny what needs approval",
	action.ModeStrict: "Yes, and ask before everything",
	action.ModeAsk:    "Yes, and ask before each change",
	action.ModeEdits:  withEdits,
	action.ModeAuto:   "Yes, in auto mode: edits and sandboxed commands run without asking",
	action.ModeAll:    "Yes, and run everything without asking",
}

// Label returns one of the choices in words.
func Label(choice string, before action.Mode) string {
	switch choice {
	case event.PlanApprove:
		return cmp.Or(approving[before], "Yes")
	case event.PlanEdits:
		return withEdits
	case event.PlanKeep:
		return "Keep planning"
	case event.PlanDiscard:
		return "Drop the plan"
	}
	return choice
}
