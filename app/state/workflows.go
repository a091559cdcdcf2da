package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/agent/event"
)

// Workflow holds one run of a workflow and its steps.
type Workflow struct {
	Run   int
	Name  string
	State event.WorkflowState
	Steps []*WorkflowStep

	parent int    // the run that this run is a step of, 0 for none
	block  *Block // shows the steps
}

// WorkflowStep is the progress of a step in a workflow run.
type WorkflowStep struct {
	event.WorkflowStepDef
	State event.WorkflowState
	Note  string   // the reason for the state
	Items []string // the items it runs for; empty for a single call
	each  map[int]event.WorkflowState
	calls map[int]string // the newest call of each item
}

// Counts returns the number of finished and of failed items.
func (s *WorkflowStep) Counts() (done, failed int) {
	for _, state := range s.each {
		switch state {
		case event.WorkflowCompleted:
			done++
		case event.WorkflowFailed:
			failed++
		}
	}
	return done, failed
}

// Line describes the step: ◐ roll 1/3, 1 failed · the others.
func (s *WorkflowStep) Line() string {
	line := s.State.Sign() + " " + s.ID
	if done, failed := s.Counts(); len(s.Items) > 0 {
		line += fmt.Sprintf(" %d/%d", done, len(s.Items))
		if failed > 0 {
			line += fmt.Sprintf(", %d failed", failed)
		}
	}
	switch {
	case s.Note != "" && s.State != event.WorkflowWaiting:
		line += " · " + s.Note
	case s.Why != "":
		line += " · " + s.Why
	}
	return line
}

func applyWorkflow(s *State, env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.WorkflowStarted:
		w := &Workflow{Run: p.Run, Name: p.Name, State: event.WorkflowRunning, parent: p.Parent}
		for _, def := range p.Steps {
			w.Steps = append(w.Steps, &WorkflowStep{WorkflowStepDef: def, State: event.WorkflowPending})
		}
		if s.workflows == nil {
			s.workflows = make(map[int]*Workflow)
		}
		s.workflows[p.Run] = w
		w.listed(s, env)
	case event.WorkflowStepped:
		w := s.workflows[p.Run]
		if w == nil {
			return 0 // it started before this state's first event
		}
		w.stepped(p)
		w.show(env)
	case event.WorkflowChanged:
		w := s.workflows[p.Run]
		if w == nil {
			return 0
		}
		w.changed(s, env, p)
	}
	return Conversation | Tasks
}

// listed adds the block of a run that starts or resumes.
func (w *Workflow) listed(s *State, env event.Envelope) {
	w.block = s.add(env, WorkflowBlock, "")
	if env.Task != 0 {
		s.task(env.Task).Workflow = w
	}
	w.show(env)
}

// show writes the steps into the block.
func (w *Workflow) show(env event.Envelope) {
	b := w.block
	if b == nil {
		return
	}
	lines := []string{"workflow " + w.Name}
	for _, step := range w.Steps {
		lines = append(lines, step.Line())
	}
	b.Text, b.last = []byte(strings.Join(lines, "\n")), env.Seq
	b.Gen++
}

func (w *Workflow) stepped(p event.WorkflowStepped) {
	i := slices.IndexFunc(w.Steps, func(s *WorkflowStep) bool { return s.ID == p.Step })
	if i < 0 {
		return
	}
	switch s := w.Steps[i]; {
	case p.Item > 0:
		if s.each == nil {
			s.each, s.calls = make(map[int]event.WorkflowState), make(map[int]string)
		}
		s.each[p.Item] = p.State
		if p.CallID != "" {
			s.calls[p.Item] = p.CallID
		}
	default:
		s.State, s.Note = p.State, p.Why
		if p.Items != nil {
			s.Items = p.Items
		}
	}
}

// changed records the state of a run, and shows how it ended.
func (w *Workflow) changed(s *State, env event.Envelope, p event.WorkflowChanged) {
	w.State = p.State
	switch p.State {
	case event.WorkflowRunning:
		w.changeCalls(s, CallLeft, CallRunning)
		w.listed(s, env)
		return
	case event.WorkflowPaused:
		w.pause(s, env)
	}
	text := WorkflowEnd(w.Name, p)
	s.add(env, NoticeBlock, text)
}

// pause shows a run and the runs within it as paused. Their running calls are no longer followed.
func (w *Workflow) pause(s *State, env event.Envelope) {
	w.State = event.WorkflowPaused
	for _, step := range w.Steps {
		if step.State == event.WorkflowRunning || step.State == event.WorkflowWaiting {
			step.State, step.Note = event.WorkflowPaused, string(event.WorkflowPaused)
		}
	}
	w.changeCalls(s, CallRunning, CallLeft)
	w.show(env)
	for _, within := range s.workflows {
		if within.parent == w.Run && !within.State.Ended() {
			within.pause(s, env)
		}
	}
}

// changeCalls changes the state of a run's calls that are in the state from.
func (w *Workflow) changeCalls(s *State, from, to CallState) {
	for _, step := range w.Steps {
		for _, id := range step.calls {
			if b := s.calls[id]; b != nil && b.Call.State == from {
				s.changeCall(id, func(c *Call) { c.State = to })
			}
		}
	}
}

// WorkflowEnd describes the new state of a run, with its outputs.
func WorkflowEnd(name string, p event.WorkflowChanged) string {
	text := "workflow " + name + " " + string(p.State)
	if p.Why != "" {
		text += ": " + p.Why
	}
	for _, output := range slices.Sorted(maps.Keys(p.Outputs)) {
		value := strings.TrimRight(p.Outputs[output], "\n")
		if strings.Contains(value, "\n") {
			value = "\n" + value
		}
		text += "\n" + output + ": " + value
	}
	return text
}

// WorkflowOf returns a run, nil if unknown.
func WorkflowOf(s *State, run int) *Workflow { return s.workflows[run] }
