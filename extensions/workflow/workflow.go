// Package workflow parses workflow files. A workflow has inputs, steps, which are tool calls, and gates, where it
// waits for a decision of the user. Package features/workflow runs it.
//
//	w, mistakes := workflow.Parse(data)
//	mistakes = append(mistakes, w.Check(tools)...)
//	inputs, err := w.Values(map[string]string{"base": "main"})
//	arguments, err := w.Steps[0].Arguments(workflow.Scope{Inputs: inputs})
//
// A file and the values of its inputs may be hostile. The size of a file is limited, and each value in a shell
// command becomes one quoted word; a file where that is impossible is refused.
//
// The package does not use expr-lang/expr (1.17.8) for conditions, because it adds 4.7 MiB to the program, reads a
// hyphen in a step's name as subtraction, and can't compare a text with a number.
package workflow

import (
	"fmt"
	"time"

	"buddy/extensions"
)

// Limits of a workflow file.
const (
	MaxFile    = extensions.MaxWorkflow // bytes
	MaxSteps   = 50
	maxPhrases = 20
	maxPhrase  = 200 // bytes
	maxInputs  = 30
	maxOutputs = 30
	maxItems   = 200       // per step
	maxAtOnce  = 20        // concurrent items
	maxRetry   = 100       // tries after the first
	maxValue   = 64 << 10  // bytes of an input's value
	maxResult  = 256 << 10 // bytes of one step's parameters with their values
	maxTimeout = 24 * time.Hour
)

// Workflow is a parsed file.
type Workflow struct {
	extensions.Item // its file; the zero value for a text without a file

	Description string // on one line
	Version     int
	Inputs      []Input
	Steps       []Step // in order: a step comes after all that it needs
	Outputs     []Output
}

// Type is the type of an input.
type Type string

// The types. A file is a path, a target is a name.
const (
	String  Type = "string"
	Int     Type = "int"
	Bool    Type = "bool"
	List    Type = "list"
	Target  Type = "target"
	Targets Type = "targets"
	File    Type = "file"
)

var types = []Type{String, Int, Bool, List, Target, Targets, File}

// Many reports whether a value of the type is a list.
func (t Type) Many() bool { return t == List || t == Targets }

// Input is a value that the caller of a workflow provides.
type Input struct {
	Name        string
	Type        Type
	Optional    bool   // empty without a value
	Default     any    // string, int, bool or []string, by Type; nil is none
	Pattern     string // must match the whole value, or each item of a list; "" is none
	Description string
	Line        int
}

// Step is one tool call, or one per item of a list.
type Step struct {
	ID, Tool, Why string
	Line          int
	Params        Params
	Target        *Template // target; nil is the session's target, or the item with EachTarget
	Each          *Each     // nil: no list
	EachTarget    bool      // the items of Each are targets
	AtOnce        int       // number of concurrent items, at least 1
	StopAfter     int       // failures after which no further item starts; 0 is no limit
	Needs         []string  // ids of steps that must end first
	Condition     *Condition
	Timeout       time.Duration // per try; 0 is the tool's own
	OnError       OnError
	Gate          *Gate
}

// Each is the list of a step that runs once per item.
type Each struct {
	ref   *Ref
	items []*Template
}

// OnError tells how a run reacts to a failed step.
type OnError struct {
	Skip  bool          // the run continues; otherwise it fails
	Retry int           // number of further tries
	Wait  time.Duration // wait before each of them
}

// GateType tells when a gate asks, and the effect of a denial.
type GateType string

// The types of gates.
const (
	Required    GateType = "approval_required" // if denied, the run ends
	Optional    GateType = "optional"          // if denied, the step is skipped
	ReviewOnly  GateType = "review_only"       // shown only; the person continues or ends the run
	Conditional GateType = "conditional"       // as Required if When holds
)

var gateTypes = []GateType{Required, Optional, ReviewOnly, Conditional}

// Gate asks the person before a step starts. It comes in addition to the policy's approval of the call.
type Gate struct {
	Type    GateType
	When    *Condition // for Conditional
	Message *Template
	Timeout time.Duration // time after which Default applies; 0 waits
	Default bool          // passes without an answer; allowed only for Optional and ReviewOnly
	PerItem bool          // asks for each item, because it names the item
	Line    int
}

// Output is a result value of a finished run.
type Output struct {
	Name string
	Text *Template
}

// Mistake is an error in a file.
type Mistake struct {
	Line   int    // from 1
	Key    string // such as steps.roll.gate.type
	Reason string
}

// String formats the mistake on one line: "line 12: steps.roll.needs: …".
func (m Mistake) String() string { return fmt.Sprintf("line %d: %s: %s", m.Line, m.Key, m.Reason) }

// Step returns the step with an id, nil for none.
func (w *Workflow) Step(id string) *Step {
	for i := range w.Steps {
		if w.Steps[i].ID == id {
			return &w.Steps[i]
		}
	}
	return nil
}

// input returns the input with a name, nil for none.
func (w *Workflow) input(name string) *Input {
	for i := range w.Inputs {
		if w.Inputs[i].Name == name {
			return &w.Inputs[i]
		}
	}
	return nil
}
