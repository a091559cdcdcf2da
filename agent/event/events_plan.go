package event

import "buddy/agent/action"

// PlanEntered marks that mode plan begins: until it ends only the plan's file is written.
type PlanEntered struct {
	File   string      `json:"file"`            // of the plan
	Before action.Mode `json:"before"`          // the mode that applies again after the plan
	Until  int64       `json:"until,omitempty"` // end of that mode, Unix milliseconds; 0 = none
}

// PlanExited marks that mode plan has ended.
type PlanExited struct {
	Approved bool       `json:"approved"`
	Edits    bool       `json:"edits,omitempty"` // mode edits was chosen for carrying it out
	Plan     string     `json:"plan,omitempty"`  // the approved text, at most 64 KiB
	Steps    []PlanStep `json:"steps,omitempty"` // of the approved plan, at most 20
}

// PlanStep is a step of a plan. What it says about tools and approvals is for people: each call is
// judged when it is made.
type PlanStep struct {
	Description      string      `json:"description"`
	Tool             string      `json:"tool,omitempty"`
	Args             string      `json:"args,omitempty"`       // JSON
	DependsOn        []int       `json:"depends_on,omitempty"` // numbers of steps, from 1
	Risk             action.Risk `json:"risk,omitempty"`
	RequiresApproval bool        `json:"requires_approval,omitempty"`
}

// The answers to a plan, besides any other text, which is a remark. PlanEdit is no choice: a screen opens the
// plan in the person's editor and sends the text that they leave; without one the plan is asked about again.
const (
	PlanApprove = "approve"
	PlanEdits   = "approve, and accept edits"
	PlanKeep    = "keep planning"
	PlanDiscard = "discard"
	PlanEdit    = "edit"
)
