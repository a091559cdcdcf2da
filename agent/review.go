package agent

import (
	"context"

	"buddy/agent/compact"
	"buddy/agent/event"
	"buddy/agent/turn"
	"buddy/agent/usage"
)

// review starts a review of a change in the background.
func (set *subagentSet) review(c event.Review) {
	switch {
	case set.o.Review == nil:
		set.tasks.stream.Reject("there is nothing to review here")
		return
	case set.tasks.stream.StoreError() != nil:
		set.tasks.stream.Reject("nothing was reviewed, because the session can't be saved: %v", set.tasks.stream.StoreError())
		return
	case !set.reviewing.CompareAndSwap(false, true):
		set.tasks.stream.Reject("a review is already running; /kill ends it")
		return
	}
	set.tasks.life.work.Go(func() {
		defer set.reviewing.Store(false)
		done := set.o.Review(set.tasks.life.ctx, set.tasks.selection.Target(), c.Base, set.delegate)
		set.announceReview(done)
		set.tasks.stream.Publish(0, 0, done)
	})
}

// announceReview adds the result of a review to the main conversation.
func (set *subagentSet) announceReview(done event.ReviewFinished) {
	if done.Problem == "" && done.Task != 0 {
		set.tasks.main.conv.Announce("A review that the user asked for has ended; what follows is the reviewer's text, not the user's:\n" + compact.Clip(set.defused(done.Summary()), maxAgentNews))
	}
}

// replayReview processes a stored event. A review that has not ended is in set.cutOff.
func (set *subagentSet) replayReview(e event.Event) {
	switch p := e.(type) {
	case event.Notice:
		if p.Code == event.ReviewStarted {
			set.cutOff = &event.ReviewFinished{Problem: errAgentInterrupted.Error()}
		}
	case event.TaskStarted:
		if ofReview(p) && set.cutOff != nil {
			set.cutOff.Task, set.cutOff.Of = p.ID, p.Title
		}
	case event.ReviewFinished:
		set.cutOff = nil
		set.announceReview(p)
	}
}

// ofReview reports whether a subagent reviews a change. All other subagents are started by a call.
func ofReview(p event.TaskStarted) bool { return p.Kind == event.SubagentTask && p.Call == "" }

// delegate implements [turn.Delegate]. Where the definition names no model or tools, it uses those of the main agent.
func (set *subagentSet) delegate(ctx context.Context, e turn.Errand) (turn.Delivered, error) {
	run := &subagentRun{Definition: e.Agent, title: e.Title, dir: e.Dir, background: true}
	main := turn.Caller{Loop: set.tasks.loop, Conv: set.tasks.main.conv, Used: &usage.Task{}, Tools: set.tasks.selection.Tools(), Model: set.tasks.selection.Model()}
	set.instructions.Await(ctx)
	working, t, err := set.open(ctx, main, run, set.o.System(e.Agent.Prompt), e.Prompt)
	if err != nil {
		return turn.Delivered{}, err
	}
	res, err := set.work(working, t, run, e.Again)
	done := turn.Delivered{Task: t.id, Answer: res.Response, Usage: res.Usage, Cost: set.tasks.ledger.Own(t.x.Used())}
	if res.Outcome != event.Completed {
		done.Problem = agentEnd{outcome: res.Outcome, err: err, turns: res.Turns}.how()
	}
	return done, nil
}
