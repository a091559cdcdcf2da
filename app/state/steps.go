package state

import (
	"fmt"
	"slices"

	"buddy/agent/event"
)

// StepState is the state of a step.
type StepState uint8

// The states of a step.
const (
	StepOpen StepState = iota
	StepWorking
	StepDone
)

// Step is a step in the model's list of steps.
type Step struct {
	Text  string // untrusted; one line
	State StepState
}

// Steps is the list of steps in which the model tracks its work: the steps of the last approved plan, or those that it
// has written with the tool todo since then.
type Steps []Step

// Done returns the number of finished steps.
func (s Steps) Done() int {
	n := 0
	for _, step := range s {
		if step.State == StepDone {
			n++
		}
	}
	return n
}

// Text formats the list on one line: plan 1/3  ☑ reproduce  ◐ fix  ☐ run all.
func (s Steps) Text() string {
	text := fmt.Sprintf("plan %d/%d", s.Done(), len(s))
	for _, step := range s {
		text += "  " + step.State.Sign() + " " + step.Text
	}
	return text
}

// Sign returns the symbol of a state.
func (s StepState) Sign() string {
	return [...]string{StepOpen: "☐", StepWorking: "◐", StepDone: "☑"}[s]
}

// Current returns the index of the first step in progress, else of the first open one, else of the last step. It is -1
// for an empty list.
func (s Steps) Current() int {
	for _, state := range [2]StepState{StepWorking, StepOpen} {
		if i := slices.IndexFunc(s, func(step Step) bool { return step.State == state }); i >= 0 {
			return i
		}
	}
	return len(s) - 1
}

// stepStates maps the states in events.
var stepStates = map[event.TodoState]StepState{event.TodoPending: StepOpen, event.TodoInProgress: StepWorking, event.TodoCompleted: StepDone}

// applySteps replaces the list of steps. When all steps are done, it shows the list as a notice.
func applySteps(s *State, env event.Envelope, p event.TodoChanged) Changed {
	was := s.Steps
	s.Steps = nil
	for _, step := range p.Steps {
		s.Steps = append(s.Steps, Step{step.Text, stepStates[step.State]})
	}
	if n := len(s.Steps); n > 0 && s.Steps.Done() == n && (len(was) == 0 || was.Done() < len(was)) {
		s.add(env, NoticeBlock, s.Steps.Text())
	}
	return Tasks
}

func plannedSteps(plan []event.PlanStep) Steps {
	steps := make(Steps, len(plan))
	for i, p := range plan {
		steps[i] = Step{Text: p.Description}
	}
	return steps
}

// endSteps drops the list of steps when a prompt is answered. If some steps were started but not all are done, it shows
// the list as a notice; a finished list was already shown.
func endSteps(s *State, env event.Envelope) {
	touched := slices.ContainsFunc(s.Steps, func(step Step) bool { return step.State != StepOpen })
	if touched && s.Steps.Done() < len(s.Steps) {
		s.add(env, NoticeBlock, s.Steps.Text())
	}
	s.Steps = nil
}
