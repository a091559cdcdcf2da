// Package workflow reads workflow files: the inputs of a workflow, its steps, which are calls of
// tools, and its gates, at which a person decides. It runs nothing.
//
//	w, mistakes := workflow.Parse(data)
//	mistakes = append(mistakes, w.Check(tools)...)
//	inputs, err := w.Values(map[string]string{"base": "main"})
//	arguments, err := w.Steps[0].Arguments(workflow.Scope{Inputs: inputs})
//
// A file may be hostile, and so may be every value: a file is bounded, and in a command of a
// shell each value is one quoted word, or the file is refused.
//
// expr-lang/expr (1.17.8) is not used for conditions, because it adds 4.7 MiB to the program, takes the
// name of a step with a hyphen for a subtraction, and compares no text with a number.
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
	maxInputs  = 30
	maxOutputs = 30
	maxItems   = 200       // of each
	maxAtOnce  = 20        // of them
	maxRetry   = 100       // tries after the first
	maxValue   = 64 << 10  // bytes of a value of an input
	maxResult  = 256 << 10 // bytes that one step's parameters may have once values are in them
	maxTimeout = 24 * time.Hour
)

// Workflow is a file that was read.
type Workflow struct {
	extensions.Item // where it came from; the zero value for a text that is no file

	Description string // on one line
	Version     int
	Inputs      []Input
	Steps       []Step // in the order of the file, in which each stands behind those that it needs
	Outputs     []Output
}

// Type is the type of an input.
type Type string

// The types. A file is a path, a target the name of one.
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

// Input is a value that who starts a workflow gives.
type Input struct {
	Name        string
	Type        Type
	Optional    bool   // without a value it is empty
	Default     any    // string, int, bool or []string, as Type says; nil is none
	Pattern     string // which the whole value must match, each item of a list; "" is none
	Description string
	Line        int
}

// Step is one call of a tool, or one for each item of a list.
type Step struct {
	ID, Tool, Why string
	Line          int
	Params        Params
	Target        *Template // where it runs; nil is the session's target, or the item, if EachTarget
	Each          *Each     // nil: it runs once
	EachTarget    bool      // the items of Each are targets
	AtOnce        int       // items that run side by side, at least 1
	StopAfter     int       // failures after which no further item begins; 0 is never
	Needs         []string  // ids of the steps that are over before it begins
	Condition     *Condition
	Timeout       time.Duration // of one try; 0 is the tool's own
	OnError       OnError
	Gate          *Gate
}

// Each is the list of a step that runs for each of its items.
type Each struct {
	ref   *Ref
	items []*Template
}

// OnError says what a failed step means for the run.
type OnError struct {
	Skip  bool          // the run goes on; otherwise it fails
	Retry int           // further tries before that
	Wait  time.Duration // before each of them
}

// GateType says when a gate asks, and what a denial means.
type GateType string

// The types of gates.
const (
	Required    GateType = "approval_required" // denied: the run ends
	Optional    GateType = "optional"          // denied: the step is left out
	ReviewOnly  GateType = "review_only"       // shown; it is only passed on, or the run ends
	Conditional GateType = "conditional"       // as Required, if When holds
)

var gateTypes = []GateType{Required, Optional, ReviewOnly, Conditional}

// Gate is a question to the person before a step begins. It comes before, and never instead of,
// what the policy asks about the call.
type Gate struct {
	Type    GateType
	When    *Condition // of Conditional
	Message *Template
	Timeout time.Duration // after which Default holds; 0 waits
	Default bool          // passed without an answer; only Optional and ReviewOnly may say so
	PerItem bool          // asked for each item, because it names the item
	Line    int
}

// Output is a value that a finished run gives.
type Output struct {
	Name string
	Text *Template
}

// Mistake is something wrong in a file.
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
