package state

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
)

// StepState tells how far a step is.
type StepState uint8

// The states of a step.
const (
	StepOpen StepState = iota
	StepWorking
	StepDone
)

// Step is an entry of the list that a model keeps of its work.
type Step struct {
	Text  string // untrusted; one line
	State StepState
}

// Steps is the list that a model keeps of its work, in its order: the steps of the plan that was
// approved last, or what it wrote with the tool todo since.
type Steps []Step

// Done counts the steps that are done.
func (s Steps) Done() int {
	n := 0
	for _, step := range s {
		if step.State == StepDone {
			n++
		}
	}
	return n
}

// Text is the list on one line: plan 1/3  ☑ reproduce  ◐ fix  ☐ run all.
func (s Steps) Text() string {
	text := fmt.Sprintf("plan %d/%d", s.Done(), len(s))
	for _, step := range s {
		text += "  " + step.State.Sign() + " " + step.Text
	}
	return text
}

// Sign is the sign of a state for people.
func (s StepState) Sign() string {
	return [...]string{StepOpen: "☐", StepWorking: "◐", StepDone: "☑"}[s]
}

// Current returns the index of the step that is worked on: the first of them, else the first open one,
// else the last step. It is -1 for an empty list.
func (s Steps) Current() int {
	for _, state := range [2]StepState{StepWorking, StepOpen} {
		if i := slices.IndexFunc(s, func(step Step) bool { return step.State == state }); i >= 0 {
			return i
		}
	}
	return len(s) - 1
}

// todo is the tool with which a model writes its steps.
const todo = "todo"

// stepSigns begin the lines that the tool todo shows, by the state of the step.
var stepSigns = [...]string{StepOpen: "[ ] ", StepWorking: "[>] ", StepDone: "[x] "}

// stepsOf reads the list that the tool todo shows and answers with.
func stepsOf(shown string) Steps {
	var steps Steps
	for line := range strings.Lines(shown) {
		for state, sign := range stepSigns {
			if text, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), sign); ok {
				steps = append(steps, Step{text, StepState(state)})
			}
		}
	}
	return steps
}

// plannedSteps returns the steps of an approved plan.
func plannedSteps(plan []event.PlanStep) Steps {
	steps := make(Steps, len(plan))
	for i, p := range plan {
		steps[i] = Step{Text: p.Description}
	}
	return steps
}

// endSteps drops the list of a prompt that was answered. The conversation keeps how far it came: one of which everything
// is done is there already, and one that was never touched says nothing.
func endSteps(s *State, env event.Envelope) {
	touched := slices.ContainsFunc(s.Steps, func(step Step) bool { return step.State != StepOpen })
	if touched && s.Steps.Done() < len(s.Steps) {
		s.add(env, NoticeBlock, s.Steps.Text())
	}
	s.Steps = nil
}
