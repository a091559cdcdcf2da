package agent

import (
	"context"
	"errors"
	"maps"
	"slices"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/goal"
	"buddy/agent/turn"
)

// OutcomeUnknown is the result of a tool that was running when buddy died and can't be
// asked how it went.
const OutcomeUnknown = turn.OutcomeUnknown

// recovery is the recovery state of a conversation: what an earlier process left unfinished.
type recovery struct {
	exchange bool               // a task had not ended, or can be continued
	waits    bool               // for Continue
	answered bool               // the last answer was whole and called nothing
	partial  event.ModelMessage // text of an answer that broke off: of its last attempt
	earlier  event.ModelMessage // the longest text of its other attempts
	calls    turn.Unsettled
	queued   map[int]event.PromptSubmitted
	shells   map[int]event.TaskStarted // commands that had not ended
	workflow bool                      // the exchange that waits is a paused run of a workflow
	agent    event.TaskStarted         // of a subagent's conversation
}

// recoveries holds the recovery states of a session.
type recoveries map[*branch]*recovery

func (all recoveries) of(b *branch) *recovery {
	if all[b] == nil {
		all[b] = &recovery{
			calls:  turn.Unsettled{Asked: make(map[string]action.Action), Waiting: make(map[string]bool), Started: make(map[string]event.ToolStarted)},
			queued: make(map[int]event.PromptSubmitted), shells: make(map[int]event.TaskStarted),
		}
	}
	return all[b]
}

// open reports whether an exchange of a conversation broke off before its answer was whole.
func (all recoveries) open(b *branch) bool {
	return all[b] != nil && all[b].exchange && !all[b].answered
}

// replay feeds stored events to the parts of the session, before anybody else can.
func (r *Runtime) replay(events []event.Envelope) {
	left := recoveries{}
	var rewinds event.Rewinds
	for i, env := range events {
		r.tasks.loop.Replay(env)
		r.changes.Replay(env)
		r.ledger.Replay(env.Payload)
		r.instructions.Replay(env.Payload)
		r.skills.Replay(env.Payload)
		r.compactor.Replay(env.Payload)
		r.selection.Replay(env.Payload)
		r.approvals.Replay(env.Payload)
		r.titles.replay(env.Payload)
		r.tasks.goals.keeper.Replay(env.Payload)
		r.tasks.numbers.replay(env.Payload)
		r.tasks.workflows.book.Replay(env)
		if p, ok := env.Payload.(event.HistoryRewound); ok {
			rewinds.Take(env)
			replayRewound(r, rewinds, events[:i], p, left.of(r.tasks.main))
			continue
		}
		talk := r.tasks.tree.Replay(env)
		if p, ok := env.Payload.(event.TargetSwitched); ok {
			r.switched(p)
		}
		if b := r.tasks.replayed(env); b != nil && talk != nil { // else it ended, or the file lacks its beginning
			r.tasks.replay(b, env, left.of(b))
		}
	}
	r.approvals.Resume(r.opts.ModeAsked)
	if len(events) > 0 {
		r.stream.Resume(events[len(events)-1].Seq)
	}
	for b, l := range left {
		b.talk.Requeue(l.queued)
		if !l.exchange && len(l.shells) == 0 {
			delete(left, b)
		}
	}
	r.tasks.left = left
}

// takeLeft returns the recovery state of a conversation, once; nil if there is none.
func (s *tasks) takeLeft(b *branch) *recovery {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.left[b]
	delete(s.left, b)
	return l
}

// replayed returns the branch that an event of an earlier process belongs to; nil when it
// has ended. One that forks off is there from now on.
func (s *tasks) replayed(env event.Envelope) *branch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := env.Payload.(event.BranchStarted); ok {
		s.forks[p.Branch] = &branch{talk: s.tree.At(p.Branch)}
		if p.Why == event.ForSubagent {
			s.forks[p.Branch].agent = &subagentRun{ended: true}
		}
		return nil
	}
	if env.Branch == 0 {
		return s.main
	}
	return s.forks[env.Branch]
}

// replay feeds an event of a conversation.
func (s *tasks) replay(b *branch, env event.Envelope, left *recovery) {
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		left.replayPrompt(b.talk, p)
	case event.PromptWithdrawn:
		delete(left.queued, p.ID)
	case event.TaskStarted, event.TaskDeadline, event.TaskFinished, event.Interrupted, event.MaxTurnsReached:
		s.replayTask(b, p, left)
	case event.ToolStarted:
		if !s.workflows.book.Owns(p.CallID) {
			left.calls.Started[p.CallID] = p
		}
	case event.WorkflowChanged:
		left.workflow = p.State == event.WorkflowPaused
	case event.ToolRequested, event.ApprovalAsked, event.ApprovalAnswered, event.ToolResult:
		left.replayCall(p)
	default:
		left.replayModel(p, b.talk.Answered())
	}
}

// replayTask feeds how far a task is.
func (s *tasks) replayTask(b *branch, e event.Event, left *recovery) {
	switch p := e.(type) {
	case event.TaskStarted:
		if p.Kind == event.ShellTask {
			left.shells[p.ID] = p
			return
		}
		left.exchange, left.waits, left.workflow = p.Kind != event.CompactionTask, false, false
		if p.Kind == event.SubagentTask {
			left.agent = p
			s.agents.replay()
		}
	case event.TaskDeadline:
		if was, shell := left.shells[p.ID]; shell {
			was.Deadline = p.Deadline
			left.shells[p.ID] = was
		}
	case event.TaskFinished:
		if _, shell := left.shells[p.ID]; shell {
			delete(left.shells, p.ID)
			return
		}
		left.exchange = (left.waits || left.workflow) && b.agent == nil
		if b.agent != nil {
			s.agents.noteEnd(left.agent, p)
		}
		if b != s.main {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.endBranch(b)
		}
	case event.Interrupted:
		left.waits = p.CanContinue
	case event.MaxTurnsReached:
		left.waits = b == s.main
	}
}

// replayPrompt feeds a prompt, which may have waited.
func (l *recovery) replayPrompt(talk *conversation.Conversation, p event.PromptSubmitted) {
	if p.Queued {
		l.queued[p.ID] = p
		return
	}
	delete(l.queued, p.ID)
	l.answered = false
	if !l.exchange {
		talk.Trust()
	}
}

// replayCall feeds how far a call is that an answer made.
func (l *recovery) replayCall(e event.Event) {
	switch p := e.(type) {
	case event.ToolRequested:
		l.calls.Asked[p.CallID] = p.Action
	case event.ApprovalAsked:
		l.calls.Waiting[p.CallID] = true
	case event.ApprovalAnswered:
		delete(l.calls.Waiting, p.CallID)
	case event.ToolResult:
		delete(l.calls.Asked, p.CallID)
		delete(l.calls.Waiting, p.CallID)
		delete(l.calls.Started, p.CallID)
	}
}

// replayModel feeds what is about an answer; stored says that the history ends with one.
func (l *recovery) replayModel(e event.Event, stored bool) {
	switch p := e.(type) {
	case event.TurnStarted:
		l.earlier, l.partial = event.ModelMessage{}, event.ModelMessage{}
	case event.ModelRetry, event.ModelFallback:
		l.earlier, l.partial = l.said(), event.ModelMessage{}
	case event.Checkpoint:
		l.partial.Message.Content += p.Text
		l.partial.Reasoning += p.Reasoning
	case event.ModelMessage:
		l.earlier, l.partial = event.ModelMessage{}, event.ModelMessage{}
		l.answered = stored && !p.Partial && len(p.Message.ToolCalls) == 0
	}
}

// said returns the text of an answer that broke off: of the attempt that said most.
func (l *recovery) said() event.ModelMessage { return turn.Longer(l.earlier, l.partial) }

var errLost = errors.New("buddy ended while this ran in the background; ask again if it is still wanted")

// resume settles interrupted exchanges, each as a task: results of what had started are
// found again, what waited for an approval asks again in every mode unless a prompt comes,
// and nothing else starts; commands that went on are followed again. The model is not called
// unless a person has a say: by answering an approval, by a prompt that waits, or by Continue.
func (s *tasks) resume(shells *shells) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents.dropAll(shells)
	left := s.left
	s.left = nil
	s.goals.keeper.Pause(goal.Ended)
	if l := left[s.main]; s.goals.keeper.TakesUp() && (l == nil || !l.exchange) {
		s.main.pending = true
		s.stream.Publish(0, 0, event.Interrupted{Text: goalWaits, CanContinue: true})
	}
	for _, b := range slices.SortedFunc(maps.Keys(left), func(a, b *branch) int { return a.talk.Branch() - b.talk.Branch() }) {
		kind, l := event.MainTask, left[b]
		shells.revive(l.shells, s.selection.Tools())
		if !l.exchange || b == s.main && s.workflows.pauseLeft(l.workflow) {
			continue
		}
		if b != s.main {
			kind = event.BackgroundTask
		}
		asking, drop := context.WithCancelCause(s.life.ctx)
		b.drop = drop // from now on: a prompt may come before the first question
		s.start(b, kind, nil, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
			defer drop(nil)
			defer context.AfterFunc(ctx, func() { drop(context.Cause(ctx)) })()
			return s.takeUp(ctx, asking, b, x, l)
		})
	}
}

// goalWaits tells a person of a goal that an earlier process worked for.
const goalWaits = "the goal is paused · Enter goes on with it"

// takeUp settles an interrupted exchange and goes on with it if a person has a say.
// Approvals are asked for until asking ends.
func (s *tasks) takeUp(ctx, asking context.Context, b *branch, x *turn.Exchange, l *recovery) (event.Outcome, error) {
	s.loop.KeepPartial(x, 0, l.said())
	asked := s.loop.Settle(ctx, asking, x, l.calls)
	s.mu.Lock()
	b.drop = nil
	goOn := asked || len(b.talk.Queue()) > 0
	waits := b == s.main && (!l.answered || s.goals.keeper.TakesUp())
	b.pending = ctx.Err() == nil && !goOn && waits
	id := b.task.id
	s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return event.Cancelled, nil
	case l.answered && !goOn && !waits:
		return event.Completed, nil
	case goOn:
		x.Say(b.talk.Steer(id))
		return s.workOn(b)(ctx, x)
	case b != s.main:
		return event.Failed, errLost
	}
	text := interrupted
	if l.answered {
		text = goalWaits
	}
	s.stream.Publish(id, 0, event.Interrupted{Task: id, Text: text, CanContinue: true})
	return event.Completed, nil
}
