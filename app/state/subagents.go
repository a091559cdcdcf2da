package state

import (
	"strconv"

	"buddy/agent/event"
	"buddy/agent/model"
)

// Subagent is what the task of a subagent has beside other tasks.
type Subagent struct {
	Name       string // of its definition
	Parent     int    // the task that called it
	Background bool   // the call did not wait for it
	Talk       *State // its conversation: Blocks, Queued and Focused are its own, all else is in the session's State
	Tool       string // that it called last; "" before
}

// Label names the agent for people: explore #5.
func (t *Task) Label() string {
	if t.Agent == nil {
		return ""
	}
	return t.Agent.Name + " #" + strconv.Itoa(t.ID)
}

// Used is what a task used and, summed up, what the agents used that worked for it.
type Used struct {
	Usage model.Usage
	Cost  model.Money // as far as prices are known
}

func (u *Used) add(p event.TurnFinished) {
	u.Cost += p.Cost
	if p.Usage != nil {
		u.Usage.Prompt += p.Usage.Prompt
		u.Usage.Completion += p.Usage.Completion
	}
}

// Task returns the task with an id, nil if there is none.
func (s *State) Task(id int) *Task {
	for i := len(s.Tasks) - 1; i >= 0; i-- {
		if s.Tasks[i].ID == id {
			return s.Tasks[i]
		}
	}
	return nil
}

// Waiting returns the task that waits for the answer of a request, nil if that is not known.
func (s *State) Waiting(request string) *Task {
	for _, t := range s.Tasks {
		for _, r := range t.Waits {
			if r == request {
				return t
			}
		}
	}
	return nil
}

// CallOf returns the call that a request is about, nil if that is not known.
func (s *State) CallOf(a event.ApprovalAsked) *Call {
	if t := s.Waiting(a.ID); t != nil && t.Agent != nil {
		return t.Agent.Talk.Call(a.CallID)
	}
	return s.Call(a.CallID)
}

// AnsweredOf returns the calls of the answer that a request comes from.
func (s *State) AnsweredOf(a event.ApprovalAsked) CallIDs {
	if t := s.Waiting(a.ID); t != nil && t.Agent != nil {
		return t.Agent.Talk.Answered
	}
	return s.Answered
}

// IsSubagent reports whether a branch is the conversation of a subagent that works.
func (s *State) IsSubagent(branch int) bool { return s.talks[branch] != nil }

// talk returns the conversation of a branch: that of a subagent, else the session's.
func (s *State) talk(branch int) *State {
	if t := s.talks[branch]; t != nil {
		return t
	}
	return s
}

// beginBranch notes whose conversation a branch is.
func (s *State) beginBranch(p event.BranchStarted) {
	if s.talks == nil {
		s.talks = make(map[int]*State)
	}
	s.talks[p.Branch] = nil
	if p.Why == event.ForSubagent {
		s.talks[p.Branch] = &State{Info: Info{Session: s.Info.Session, Event: s.Info.Event, First: s.Info.First}}
	}
}

// applySubagent records what happens in the conversation of a subagent. Its tasks, requests, panes
// and costs are the session's.
func (s *State) applySubagent(env event.Envelope, talk *State) Changed {
	switch p := env.Payload.(type) {
	case event.TaskStarted:
		return s.applyTask(env) | s.beginSubagent(env, p, talk)
	case event.TaskQueued, event.TaskProgress, event.TaskDeadline, event.TaskCancelling:
		return s.applyTask(env)
	case event.TaskFinished:
		talk.closeAnswer()
		delete(s.talks, env.Branch)
		return s.applyTask(env)
	case event.TurnFinished:
		return s.finishTurn(env.Task, p)
	case event.ApprovalAsked, event.ApprovalAnswered:
		return s.applyApproval(env)
	case event.QuestionAsked, event.QuestionAnswered:
		return s.applyQuestion(env)
	case event.PaneOpened, event.PaneLost, event.PaneClosed, event.PaneScreen, event.PaneHistory:
		return s.applyPane(env)
	case event.MetricsUsage:
		return s.applyInfo(env)
	case event.Warning:
		s.warnOf(env, p)
	case event.ToolRequested:
		if t := s.Task(env.Task); t != nil && t.Agent != nil {
			t.Agent.Tool = p.Name
		}
	}
	env.Branch = 0
	return talk.hear(env) | talk.fold(env)
}

// beginSubagent joins the task of a subagent with its conversation and with the call that began it.
func (s *State) beginSubagent(env event.Envelope, p event.TaskStarted, talk *State) Changed {
	t := s.task(p.ID)
	t.Agent = &Subagent{Name: p.Agent, Parent: p.Parent, Background: p.Background, Talk: talk}
	caller := s
	if up := s.Task(p.Parent); up != nil && up.Agent != nil {
		caller = up.Agent.Talk
	}
	return caller.changeCall(p.Call, func(c *Call) { c.Agent = t }) | Conversation
}

// abandon ends what was open in a subagent's conversation when the process ended that ran it.
func (s *State) abandon() {
	s.closeAnswer()
	s.Queued, s.Heard, s.Retry = nil, 0, nil
	for id, b := range s.calls {
		b.Call.State = CallCancelled
		b.Gen++
		delete(s.calls, id)
	}
}
