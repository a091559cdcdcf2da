package state

import (
	"fmt"

	"buddy/agent/event"
	"buddy/texts"
)

// applyBranch applies an event of a fork of the conversation. Tasks and requests are shown at once. The answer is added
// to the end of the main conversation when the fork has ended.
func (s *State) applyBranch(env event.Envelope, known bool) Changed {
	if !known && s.kept != nil { // its start was not read yet
		return applyLater(s, env)
	}
	switch p := env.Payload.(type) {
	case event.TaskStarted, event.TaskProgress, event.TaskDeadline, event.TaskCancelling:
		return s.applyTask(env)
	case event.TurnFinished:
		return s.finishTurn(env.Task, p)
	case event.QuestionAsked, event.QuestionAnswered:
		return s.applyQuestion(env)
	case event.ApprovalAsked, event.ApprovalAnswered:
		return applyApproval(s, env)
	case event.ToolRequested: // no block shows it, but the user may edit it before it runs
		s.calls = withCall(s.calls, &Block{Kind: ToolBlock, Call: newCall(p, ""), parallel: true})
	case event.ToolResult:
		delete(s.calls, p.CallID)
	case event.MetricsUsage:
		return s.applyInfo(env)
	case event.ModelMessage:
		s.task(env.Task).Answer = p.Message.Content
	case event.Warning:
		warnOf(s, env, p)
		return Conversation
	case event.TaskFinished:
		if t := s.Tasks.Get(env.Task); t != nil && t.Agent != nil {
			return 0 // an earlier process ran it and has ended
		}
		return s.finishBranch(env, p)
	}
	return 0
}

// applyLater applies an event of a branch whose start was not read yet. It applies only requests to the user, and the
// session's costs.
func applyLater(s *State, env event.Envelope) Changed {
	switch env.Payload.(type) {
	case event.ApprovalAsked, event.ApprovalAnswered:
		return applyApproval(s, env)
	case event.QuestionAsked, event.QuestionAnswered:
		return s.applyQuestion(env)
	case event.MetricsUsage: // of the session
		return s.applyInfo(env)
	}
	return 0
}

// warnOf shows the warning of a parallel task in the main conversation.
func warnOf(s *State, env event.Envelope, p event.Warning) {
	who := fmt.Sprintf("task #%d", env.Task)
	if t := s.Tasks.Get(env.Task); t != nil && t.Agent != nil {
		who = t.Label()
	}
	s.add(env, WarningBlock, who+": "+texts.WithNext(p.Text, p.NextStep))
}

func (s *State) finishBranch(env event.Envelope, p event.TaskFinished) Changed {
	t := s.task(env.Task)
	text := fmt.Sprintf("task #%d in the background %s: %s", t.ID, p.Outcome, t.Title)
	kind := NoticeBlock
	if p.Error != "" {
		kind = ErrorBlock
		text += " · " + p.Error
	}
	s.add(env, kind, text)
	if t.Answer != "" {
		s.add(env, AssistantBlock, t.Answer)
	}
	t.Answer = ""
	return s.applyTask(env) | Conversation
}
