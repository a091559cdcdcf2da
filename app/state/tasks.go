package state

import (
	"slices"

	"buddy/agent/event"
)

func (s *State) applyTask(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.TaskQueued:
		s.task(p.ID).Kind, s.task(p.ID).Title = p.Kind, p.Title
	case event.TaskStarted:
		s.Info.Interrupted = s.Info.Interrupted && !p.Kind.HasConversation()
		t := s.task(p.ID)
		t.Kind, t.Title, t.Deadline, t.Started, t.State = p.Kind, p.Title, p.Deadline, env.Time, TaskRunning
		t.Pane, t.Dir, t.Earlier = p.Pane, p.Dir, false
	case event.TaskDeadline:
		s.task(p.ID).Deadline = p.Deadline
	case event.TaskProgress:
		s.task(p.ID).Doing = p.Text
	case event.TaskCancelling:
		s.task(p.ID).State = TaskCancelling
	case event.TaskFinished:
		t := s.task(p.ID)
		t.State, t.Outcome, t.Error, t.Ended, t.Doing = TaskDone, p.Outcome, p.Error, env.Time, ""
		if env.Branch == 0 && t.Kind.HasConversation() { // otherwise it is not part of the answer
			s.open.close()
		}
		if env.Branch == 0 && t.Kind == event.MainTask && p.Outcome == event.Completed {
			endSteps(s, env)
		}
		s.Tasks = dropFinished(s.Tasks)
		return Tasks | Header | Conversation
	case event.TurnFinished:
		return s.finishTurn(env.Task, p)
	}
	return Tasks | Header
}

// task returns the task with an id, creating it if it is new.
func (s *State) task(id int) *Task {
	if t := s.Tasks.Get(id); t != nil {
		return t
	}
	t := &Task{ID: id}
	s.Tasks = append(s.Tasks, t)
	return t
}

// finishTurn adds the usage of a turn to its task and that task's callers.
func (s *State) finishTurn(id int, p event.TurnFinished) Changed {
	if id == 0 {
		return 0
	}
	t := s.task(id)
	t.Turns++
	t.Own.add(p)
	for up := t; up != nil; up = caller(s, up) {
		up.All.add(p)
	}
	return Tasks
}

// caller returns the task that a subagent works for, nil for other tasks.
func caller(s *State, t *Task) *Task {
	if t.Agent == nil || t.Agent.Parent >= t.ID { // a parent is older, so there is no cycle
		return nil
	}
	return s.Tasks.Get(t.Agent.Parent)
}

// awaitPerson marks the task of an event as waiting for the user's answer to a request.
func awaitPerson(tasks []*Task, env event.Envelope, request string) {
	for _, t := range tasks {
		if t.ID == env.Task && (t.State == TaskRunning || t.State == TaskWaiting) {
			t.State, t.Waits = TaskWaiting, append(t.Waits, Wait{request, env.Time})
		}
	}
}

// personAnswered removes an answered request from the tasks. A task without further open requests is running again.
func personAnswered(tasks []*Task, request string) {
	for _, t := range tasks {
		before := len(t.Waits)
		t.Waits = slices.DeleteFunc(t.Waits, func(w Wait) bool { return w.Request == request })
		if len(t.Waits) < before && len(t.Waits) == 0 && t.State == TaskWaiting {
			t.State = TaskRunning
		}
	}
}

// dropFinished removes all but the last finished tasks, counting subagents separately.
func dropFinished(tasks []*Task) []*Task {
	var agents, others int
	for _, t := range tasks {
		switch {
		case t.State != TaskDone:
		case t.Agent != nil:
			agents++
		default:
			others++
		}
	}
	if agents <= maxAgents && others <= maxFinished {
		return tasks
	}
	return slices.DeleteFunc(tasks, func(t *Task) bool {
		n, most := &others, maxFinished
		if t.Agent != nil {
			n, most = &agents, maxAgents
		}
		if t.State != TaskDone || *n <= most {
			return false
		}
		*n--
		return true
	})
}
