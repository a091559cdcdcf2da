package agent

import (
	"context"
	"errors"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/agent/turn"
)

// OutcomeUnknown is the result of a tool that was running when buddy died and whose outcome can't be found.
const OutcomeUnknown = turn.OutcomeUnknown

// replay restores the parts of the session from stored events, before any other use.
func (r *Runtime) replay(events []event.Envelope) {
	recovery := &record.Record{}
	var rewinds event.Rewinds
	for i, env := range events {
		r.tasks.loop.Replay(env)
		r.changes.Replay(env)
		r.instructions.Replay(env.Payload)
		for _, p := range r.opts.Parts {
			p.Replay(env)
		}
		r.compactor.Replay(env.Payload)
		r.selection.Replay(env.Payload)
		r.approvals.Replay(env.Payload)
		r.questions.Replay(env.Payload)
		r.titles.replay(env.Payload)
		r.tasks.numbers.replay(env.Payload)
		if p, ok := env.Payload.(event.HistoryRewound); ok {
			rewinds.Take(env)
			replayRewound(r, rewinds, events[:i], p)
		} else {
			r.tasks.tree.Replay(env)
		}
		if p, ok := env.Payload.(event.TargetSwitched); ok {
			r.switched(p)
		}
		r.tasks.replay(env, recovery)
		about := recovery.Apply(env)
		r.ledger.Replay(env.Payload, about)
		if b := r.tasks.on(env.Branch); b != nil {
			conversation.Did(b.conv, about)
		}
	}
	r.approvals.Resume(r.opts.ModeAsked)
	if len(events) > 0 {
		r.stream.Resume(events[len(events)-1].Seq)
	}
	r.tasks.restore(recovery)
}

// replay processes a stored event for its conversation, unless that has ended; before is the state before the event.
func (s *tasks) replay(env event.Envelope, before *record.Record) {
	if p, ok := env.Payload.(event.BranchStarted); ok {
		s.forks[p.Branch] = &branch{conv: s.tree.At(p.Branch)}
		if p.Why == event.ForSubagent {
			s.forks[p.Branch].agent = &subagentRun{ended: true}
		}
		return
	}
	b := s.on(env.Branch)
	if b == nil {
		return
	}
	was := before.Branches[env.Branch]
	s.agents.replayReview(env.Payload)
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if !p.Queued && (was == nil || !was.Open) {
			b.conv.Trust()
		}
	case event.TaskStarted:
		if p.Kind == event.SubagentTask {
			s.agents.replay()
		}
	case event.TaskFinished:
		if t := before.Tasks[p.ID]; b != s.main && (t == nil || t.Kind != event.ShellTask) {
			s.replayEnd(b, was, p)
		}
	}
}

// replayEnd ends a conversation other than the main one; was is its state before the event p.
func (s *tasks) replayEnd(b *branch, was *record.Branch, p event.TaskFinished) {
	if b.agent != nil && was != nil {
		s.agents.noteEnd(was.Agent, p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endBranch(b)
}

// on returns the branch of a conversation; nil if it has ended, or its start is not stored.
func (s *tasks) on(number int) *branch {
	if number == 0 {
		return s.main
	}
	return s.forks[number]
}

// restore keeps the recovery state of an earlier process, and queues its waiting prompts again.
func (s *tasks) restore(recovery *record.Record) {
	for number, l := range recovery.Branches {
		b := s.on(number)
		if b == nil {
			delete(recovery.Branches, number)
			continue
		}
		l.Answered = l.Answered && b.conv.Answered() || conversation.Empty(b.conv) // its prompt may have been removed
	}
	for _, env := range recovery.Queued {
		if b, p := s.on(env.Branch), env.Payload.(event.PromptSubmitted); b != nil {
			b.conv.Requeue(p)
		}
	}
	s.recovery = recovery
}

// interruptedIn reports whether the exchange of the main conversation was interrupted before its answer was complete.
func interruptedIn(recovery *record.Record) bool {
	main := recovery.Branches[0]
	return main != nil && main.Open && !main.Answered
}

var errLost = errors.New("buddy ended while this ran in the background; ask again if you still want it")

// resume settles interrupted exchanges, each as a task: it looks for the results of calls that had started, and in
// every mode it asks again for open approvals until a prompt arrives. No other call starts. Background commands are
// followed again. The model is called only after a person acts: by answering an approval, by a queued prompt, or by
// Continue.
func (s *tasks) resume(shells *shells) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents.dropAll(shells)
	recovery := s.recovery
	s.recovery = nil
	l := recovery.Branches[0]
	byDriver := s.drivers.restore(l)
	switch text := s.drivers.waits(); {
	case !byDriver && l != nil && l.Open:
	case text != "":
		s.main.pending = true
		s.stream.Publish(0, 0, event.Interrupted{Text: text, CanContinue: true})
	default:
		if p, ok := recovery.Unreported(); ok { // buddy ended between two events
			s.stream.Publish(p.ID, 0, event.ExchangeFinished{Outcome: p.Outcome, Error: p.Error})
		}
	}
	settleLoops(s, recovery)
	shells.revive(unfinishedShells(recovery), s.selection.Tools())
	for _, number := range recovery.Working() {
		kind, b, l := event.MainTask, s.on(number), recovery.Branches[number]
		switch {
		case !l.Open:
			continue
		case b != s.main:
			kind = event.BackgroundTask
		case byDriver:
			s.startNext(b)
			continue
		}
		asking, drop := context.WithCancelCause(s.life.ctx)
		b.drop = drop // set early, because a prompt may come before the first question
		s.start(b, kind, nil, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
			defer drop(nil)
			defer context.AfterFunc(ctx, func() { drop(context.Cause(ctx)) })()
			return s.recoverTask(ctx, asking, b, x, l)
		})
	}
}

// unfinishedShells returns the commands that had not ended, by number.
func unfinishedShells(recovery *record.Record) map[int]event.TaskStarted {
	all := make(map[int]event.TaskStarted)
	for id, t := range recovery.Tasks {
		if t.Kind == event.ShellTask {
			all[id] = t.TaskStarted
		}
	}
	return all
}

// recoverTask settles an interrupted exchange, and continues it if a person has acted. It asks for open approvals
// until asking ends.
func (s *tasks) recoverTask(ctx, asking context.Context, b *branch, x *turn.Exchange, l *record.Branch) (event.Outcome, error) {
	s.loop.KeepPartial(x, 0, l.Said())
	asked := s.loop.Settle(ctx, asking, x, l.Calls)
	s.mu.Lock()
	b.drop = nil
	acted := asked || len(b.conv.Queue()) > 0 || b.wanted && !l.Answered
	text := interrupted
	if l.Answered {
		text = s.drivers.waits()
	}
	waits := b == s.main && text != ""
	b.pending = ctx.Err() == nil && !acted && waits
	b.lost = b.pending
	id := b.task.id
	s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return event.Cancelled, nil
	case l.Answered && !acted && !waits:
		return event.Completed, nil
	case acted:
		x.Say(b.conv.Steer(id))
		return s.workOn(b)(ctx, x)
	case b != s.main:
		return event.Failed, errLost
	}
	s.stream.Publish(id, 0, event.Interrupted{Task: id, Text: text, CanContinue: true})
	return event.Completed, nil
}
