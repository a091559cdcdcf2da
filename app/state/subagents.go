package state

import (
	"strconv"

	"buddy/agent/event"
	"buddy/agent/model"
)

// Subagent holds the data of a subagent's task.
type Subagent struct {
	Name       string // of its definition
	Parent     int    // the task that called it
	Background bool   // whether the call did not wait for it
	Talk       *State // its conversation: only Blocks, Queued and Focused are its own, all else is in the session's State
}

// Label returns the agent's name for display: explore #5.
func (t *Task) Label() string {
	if t.Agent == nil {
		return ""
	}
	return t.Agent.Name + " #" + strconv.Itoa(t.ID)
}

// Used holds the usage and cost of a task.
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

// TaskList holds tasks by id.
type TaskList []*Task

// Get returns the task with an id, nil if there is none.
func (l TaskList) Get(id int) *Task {
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].ID == id {
			return l[i]
		}
	}
	return nil
}

// Waiting returns the task that waits for a request, nil if unknown.
func (l TaskList) Waiting(request string) *Task {
	for _, t := range l {
		for _, w := range t.Waits {
			if w.Request == request {
				return t
			}
		}
	}
	return nil
}

// CallOf returns the call that a request is about, nil if unknown.
func CallOf(s *State, a event.ApprovalAsked) *Call {
	if t := s.Tasks.Waiting(a.ID); t != nil && t.Agent != nil {
		return t.Agent.Talk.Call(a.CallID)
	}
	return s.Call(a.CallID)
}

// IsSubagent reports whether a branch is the conversation of a working subagent.
func IsSubagent(s *State, branch int) bool { return s.convs[branch] != nil }

// convOf returns the conversation of a branch: a subagent's, else the session's.
func convOf(s *State, branch int) *State {
	if t := s.convs[branch]; t != nil {
		return t
	}
	return s
}

// beginBranch records a branch, and creates the conversation of a subagent's branch.
func beginBranch(s *State, p event.BranchStarted) {
	if s.convs == nil {
		s.convs = make(map[int]*State)
	}
	s.convs[p.Branch] = nil
	if p.Why == event.ForSubagent {
		s.convs[p.Branch] = &State{Info: Info{Session: s.Info.Session, Event: s.Info.Event, First: s.Info.First}}
	}
}

// applySubagent applies an event of a subagent's conversation. Events about tasks, requests, panes and costs are
// applied to the session instead.
func applySubagent(s *State, env event.Envelope, conv *State) Changed {
	switch p := env.Payload.(type) {
	case event.TaskStarted:
		return s.applyTask(env) | beginSubagent(s, p, conv)
	case event.TaskQueued, event.TaskProgress, event.TaskDeadline, event.TaskCancelling:
		return s.applyTask(env)
	case event.TaskFinished:
		conv.open.close()
		conv.Retries.giveUp(env.Seq)
		delete(s.convs, env.Branch)
		return s.applyTask(env)
	case event.TurnFinished:
		return s.finishTurn(env.Task, p)
	case event.ApprovalAsked, event.ApprovalAnswered:
		return applyApproval(s, env)
	case event.QuestionAsked, event.QuestionAnswered:
		return s.applyQuestion(env)
	case event.PaneOpened:
		gotFirstPane(conv, p)
		return s.applyPane(env)
	case event.PaneLost, event.PaneClosed, event.PaneScreen, event.PaneHistory:
		return s.applyPane(env)
	case event.MetricsUsage:
		return s.applyInfo(env)
	case event.Warning:
		warnOf(s, env, p)
	}
	env.Branch = 0
	return conv.recordActivity(env) | conv.fold(env)
}

// gotFirstPane assigns an opened pane to the running call of a conversation, unless the call has one.
func gotFirstPane(s *State, p event.PaneOpened) {
	if c := s.Focused; c != nil && c.State == CallRunning && c.Pane == "" && c.Action.Target == p.Target {
		gotPane(s, c, p.Pane)
	}
}

// beginSubagent connects the task of a subagent with its conversation and with the call that started it.
func beginSubagent(s *State, p event.TaskStarted, conv *State) Changed {
	t := s.task(p.ID)
	t.Agent = &Subagent{Name: p.Agent, Parent: p.Parent, Background: p.Background, Talk: conv}
	caller := s
	if up := s.Tasks.Get(p.Parent); up != nil && up.Agent != nil {
		caller = up.Agent.Talk
	}
	return caller.changeCall(p.Call, func(c *Call) { c.Agent = t }) | Conversation
}

// abandon ends everything that is open in a subagent's conversation, because the process that ran the subagent has
// ended.
func abandon(s *State) {
	s.open.close()
	s.Retries.giveUp(0)
	s.Queued, s.Heard, s.Coming = nil, 0, s.Coming.none()
	for id, b := range s.calls {
		b.Call.State = CallCancelled
		b.Gen++
		delete(s.calls, id)
	}
}
