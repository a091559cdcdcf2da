package agent

import (
	"context"
	"errors"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/agent/turn"
)

// OutcomeUnknown is the result of a tool that was running when buddy died and can't be
// asked how it went.
const OutcomeUnknown = turn.OutcomeUnknown

// replay feeds stored events to the parts of the session, before anybody else can.
func (r *Runtime) replay(events []event.Envelope) {
	left := &record.Record{}
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
		r.tasks.replay(env, left)
		about := left.Apply(env)
		r.ledger.Replay(env.Payload, about)
		if b := r.tasks.on(env.Branch); b != nil {
			conversation.Did(b.talk, about)
		}
	}
	r.approvals.Resume(r.opts.ModeAsked)
	if len(events) > 0 {
		r.stream.Resume(events[len(events)-1].Seq)
	}
	r.tasks.leave(left)
}

// replay feeds an event of an earlier process to the conversation that it belongs to, unless that has ended; before is what
// was open before it.
func (s *tasks) replay(env event.Envelope, before *record.Record) {
	if p, ok := env.Payload.(event.BranchStarted); ok {
		s.forks[p.Branch] = &branch{talk: s.tree.At(p.Branch)}
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
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if !p.Queued && (was == nil || !was.Open) {
			b.talk.Trust()
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

// replayEnd ends a conversation beside the main one; was holds what was open in it.
func (s *tasks) replayEnd(b *branch, was *record.Branch, p event.TaskFinished) {
	if b.agent != nil && was != nil {
		s.agents.noteEnd(was.Agent, p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endBranch(b)
}

// on returns what works on a conversation; nil when that has ended, or its beginning is not stored.
func (s *tasks) on(number int) *branch {
	if number == 0 {
		return s.main
	}
	return s.forks[number]
}

// leave keeps what an earlier process left open, and lets the prompts wait again that waited.
func (s *tasks) leave(left *record.Record) {
	for number, l := range left.Branches {
		b := s.on(number)
		if b == nil {
			delete(left.Branches, number)
			continue
		}
		l.Answered = l.Answered && b.talk.Answered()
	}
	for _, env := range left.Queued {
		if b, p := s.on(env.Branch), env.Payload.(event.PromptSubmitted); b != nil {
			b.talk.Requeue(p)
		}
	}
	s.left = left
}

// interruptedIn reports whether the exchange of the main conversation broke off before its answer was whole.
func interruptedIn(left *record.Record) bool {
	main := left.Branches[0]
	return main != nil && main.Open && !main.Answered
}

var errLost = errors.New("buddy ended while this ran in the background; ask again if you still want it")

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
	l := left.Branches[0]
	byDriver := s.drivers.left(l)
	if text := s.drivers.waits(); text != "" && (byDriver || l == nil || !l.Open) {
		s.main.pending = true
		s.stream.Publish(0, 0, event.Interrupted{Text: text, CanContinue: true})
	}
	shells.revive(leftShells(left), s.selection.Tools())
	for _, number := range left.Working() {
		kind, b, l := event.MainTask, s.on(number), left.Branches[number]
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
		b.drop = drop // from now on: a prompt may come before the first question
		s.start(b, kind, nil, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
			defer drop(nil)
			defer context.AfterFunc(ctx, func() { drop(context.Cause(ctx)) })()
			return s.takeUp(ctx, asking, b, x, l)
		})
	}
}

// leftShells returns the commands that had not ended, by number.
func leftShells(left *record.Record) map[int]event.TaskStarted {
	all := make(map[int]event.TaskStarted)
	for id, t := range left.Tasks {
		if t.Kind == event.ShellTask {
			all[id] = t.TaskStarted
		}
	}
	return all
}

// takeUp settles an interrupted exchange and goes on with it if a person has a say.
// Approvals are asked for until asking ends.
func (s *tasks) takeUp(ctx, asking context.Context, b *branch, x *turn.Exchange, l *record.Branch) (event.Outcome, error) {
	s.loop.KeepPartial(x, 0, l.Said())
	asked := s.loop.Settle(ctx, asking, x, l.Calls)
	s.mu.Lock()
	b.drop = nil
	goOn := asked || len(b.talk.Queue()) > 0
	text := interrupted
	if l.Answered {
		text = s.drivers.waits()
	}
	waits := b == s.main && text != ""
	b.pending = ctx.Err() == nil && !goOn && waits
	id := b.task.id
	s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return event.Cancelled, nil
	case l.Answered && !goOn && !waits:
		return event.Completed, nil
	case goOn:
		x.Say(b.talk.Steer(id))
		return s.workOn(b)(ctx, x)
	case b != s.main:
		return event.Failed, errLost
	}
	s.stream.Publish(id, 0, event.Interrupted{Task: id, Text: text, CanContinue: true})
	return event.Completed, nil
}
