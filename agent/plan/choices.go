package plan

import (
	"cmp"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Question is the title of the dialog that asks about a plan.
const Question = "Carry out this plan?"

// Choices returns the possible answers to a plan, where before is the mode before planning. Edits mode is offered only
// if before is stricter; every other answer leads to a mode that is no looser than before.
func Choices(before action.Mode) []string {
	if before != action.ModeEdits && action.Stricter(before, action.ModeEdits) == before {
		return []string{event.PlanApprove, event.PlanEdits, event.PlanKeep, event.PlanDiscard}
	}
	return []string{event.PlanApprove, event.PlanKeep, event.PlanDiscard}
}

// withEdits is the label for carrying out a plan in edits mode.
const withEdits = "Yes, and accept edits in this folder"

// approving holds the label for approving a plan, by the mode before planning.
var approving = map[action.Mode]string{
	action.ModeNone:   "Yes, and deny what needs approval",
	action.ModeStrict: "Yes, and ask before everything",
	action.ModeAsk:    "Yes, and ask before each change",
	action.ModeEdits:  withEdits,
	action.ModeAuto:   "Yes, in auto mode: edits and sandboxed commands run without asking",
	action.ModeAll:    "Yes, and run everything without asking",
}

// Label returns the text of a choice.
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
