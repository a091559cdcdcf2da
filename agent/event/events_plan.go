package event

import "buddy/agent/action"

// PlanEntered marks the start of plan mode, in which only the plan's file may be written.
type PlanEntered struct {
	File   string      `json:"file"`
	Before action.Mode `json:"before"`          // the mode to restore after the plan
	Until  int64       `json:"until,omitempty"` // end of that mode, Unix milliseconds; 0 = none
}

// PlanExited marks the end of plan mode.
type PlanExited struct {
	Approved bool       `json:"approved"`
	Edits    bool       `json:"edits,omitempty"` // the person chose edits mode for carrying it out
	Plan     string     `json:"plan,omitempty"`  // the approved text, at most 64 KiB
	Steps    []PlanStep `json:"steps,omitempty"` // of the approved plan, at most 20
}

// PlanStep is a step of a plan. Its tools and approvals are information for the person: each call is judged when it
// is made.
type PlanStep struct {
	Description      string      `json:"description"`
	Tool             string      `json:"tool,omitempty"`
	Args             string      `json:"args,omitempty"`       // JSON
	DependsOn        []int       `json:"depends_on,omitempty"` // numbers of steps, from 1
	Risk             action.Risk `json:"risk,omitempty"`
	RequiresApproval bool        `json:"requires_approval,omitempty"`
}

// The answers to a plan. Any other answer is a remark about the plan. PlanEdit is not offered as a choice: a client
// opens the plan in the user's editor and sends the result; a client without an editor asks again.
const (
	PlanApprove = "approve"
	PlanEdits   = "approve, and accept edits"
	PlanKeep    = "keep planning"
	PlanDiscard = "discard"
	PlanEdit    = "edit"
)
