package event

// WorkflowState is the state of a workflow run or of a step.
type WorkflowState string

// The states of runs and steps. A run starts as running, a step as pending.
const (
	WorkflowPending   WorkflowState = "pending"
	WorkflowRunning   WorkflowState = "running"
	WorkflowWaiting   WorkflowState = "waiting" // for a gate
	WorkflowPaused    WorkflowState = "paused"  // runs only: until a person resumes it
	WorkflowCompleted WorkflowState = "completed"
	WorkflowFailed    WorkflowState = "failed"
	WorkflowSkipped   WorkflowState = "skipped" // steps only: not executed
	WorkflowCancelled WorkflowState = "cancelled"
)

// The answers to a gate, a workflow's question whether a step may start. Any other answer denies the step and is the
// reason for the denial.
const (
	GatePass = "approve"
	GateDeny = "deny"
)

// GateChoices are the offered answers to a gate.
var GateChoices = []string{GatePass, GateDeny}

// Ended reports whether a state is final.
func (s WorkflowState) Ended() bool {
	return s == WorkflowCompleted || s == WorkflowFailed || s == WorkflowSkipped || s == WorkflowCancelled
}

// Sign returns the symbol of a step in this state.
func (s WorkflowState) Sign() string {
	switch s {
	case WorkflowCompleted:
		return "☑"
	case WorkflowRunning:
		return "◐"
	case WorkflowWaiting, WorkflowPaused:
		return "‖"
	case WorkflowFailed, WorkflowCancelled:
		return "✗"
	case WorkflowSkipped:
		return "–"
	case WorkflowPending:
	}
	return "☐"
}

// WorkflowStarted starts a workflow run; its calls belong to the task of this event. Source is the text of the
// workflow's file, so that an interrupted run continues with the same version.
type WorkflowStarted struct {
	Run    int               `json:"run"` // number within the session, from 1
	Name   string            `json:"name"`
	File   string            `json:"file"` // for display
	Source string            `json:"source"`
	Inputs map[string]string `json:"inputs,omitempty"` // as passed in
	Steps  []WorkflowStepDef `json:"steps"`
	// The fields below belong to a run started by a step of another run.
	Parent int    `json:"parent,omitempty"` // number of that run
	Step   string `json:"step,omitempty"`
	Item   int    `json:"item,omitempty"` // from 1
}

// WorkflowStepDef describes a step for display.
type WorkflowStepDef struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	Why  string `json:"why,omitempty"`
}

// WorkflowStepped reports the state of a step. If the step repeats its call for several items, the event of its start
// lists them in Items, and events with Item above 0 report the state of one item.
type WorkflowStepped struct {
	Run     int           `json:"run"`
	Step    string        `json:"step"`
	State   WorkflowState `json:"state"`
	Item    int           `json:"item,omitempty"`  // from 1
	Items   []string      `json:"items,omitempty"` // of a step that repeats its call
	CallID  string        `json:"call_id,omitempty"`
	Attempt int           `json:"attempt,omitempty"` // of the call, from 1
	Why     string        `json:"why,omitempty"`     // reason for the state
}

// WorkflowChanged reports the new state of a run. Outputs are set when it has ended.
type WorkflowChanged struct {
	Run     int               `json:"run"`
	State   WorkflowState     `json:"state"`
	Why     string            `json:"why,omitempty"`
	Outputs map[string]string `json:"outputs,omitempty"`
}
