package event

// WorkflowState names how far a run of a workflow, or a step of one, is.
type WorkflowState string

// The states of runs and of steps. A run begins as running; a step as pending.
const (
	WorkflowPending   WorkflowState = "pending"
	WorkflowRunning   WorkflowState = "running"
	WorkflowWaiting   WorkflowState = "waiting" // for a gate
	WorkflowPaused    WorkflowState = "paused"  // of runs: nothing goes on until a person resumes it
	WorkflowCompleted WorkflowState = "completed"
	WorkflowFailed    WorkflowState = "failed"
	WorkflowSkipped   WorkflowState = "skipped" // of steps: it was not to be done
	WorkflowCancelled WorkflowState = "cancelled"
)

// The answers to a gate. Any other denies it, with the answer as the reason.
const (
	GatePass = "approve"
	GateDeny = "deny"
)

// GateChoices are the answers to a gate that are offered.
var GateChoices = []string{GatePass, GateDeny}

// Ended reports whether nothing follows a state.
func (s WorkflowState) Ended() bool {
	return s == WorkflowCompleted || s == WorkflowFailed || s == WorkflowSkipped || s == WorkflowCancelled
}

// Sign returns the mark of a step in this state, for lists.
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

// WorkflowStarted opens a run of a workflow, whose calls are those of its task. Source is the whole
// file, so that a run which was interrupted goes on with what it began with.
type WorkflowStarted struct {
	Run    int               `json:"run"` // within the session, from 1
	Name   string            `json:"name"`
	File   string            `json:"file"` // where it was found, for people
	Source string            `json:"source"`
	Inputs map[string]string `json:"inputs,omitempty"` // as they were given
	Steps  []WorkflowStepDef `json:"steps"`
	// What follows is of a run that a step of another one began.
	Parent int    `json:"parent,omitempty"` // the run
	Step   string `json:"step,omitempty"`
	Item   int    `json:"item,omitempty"` // from 1
}

// WorkflowStepDef describes a step for people.
type WorkflowStepDef struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	Why  string `json:"why,omitempty"`
}

// WorkflowStepped reports how far a step is, or with Item above 0 how far it is for one of its items.
// When a step with items begins to run, Items are all of them.
type WorkflowStepped struct {
	Run     int           `json:"run"`
	Step    string        `json:"step"`
	State   WorkflowState `json:"state"`
	Item    int           `json:"item,omitempty"`  // from 1
	Items   []string      `json:"items,omitempty"` // of a step that repeats its call
	CallID  string        `json:"call_id,omitempty"`
	Attempt int           `json:"attempt,omitempty"` // of the call, from 1
	Why     string        `json:"why,omitempty"`     // it is in this state
}

// WorkflowChanged reports that a run is in another state. Outputs are those of a run that has ended.
type WorkflowChanged struct {
	Run     int               `json:"run"`
	State   WorkflowState     `json:"state"`
	Why     string            `json:"why,omitempty"`
	Outputs map[string]string `json:"outputs,omitempty"`
}
