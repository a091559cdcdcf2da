package goal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/record"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/tools"
)

// Part keeps the main task of a session working on its goal. It is a [turn.Driver]; use New.
type Part struct {
	turn.Nothing
	turn.Driving
	keeper *keeper
}

// New returns a part without a goal. limits are the defaults of goals.
func New(limits *Limits) *Part { return &Part{keeper: &keeper{limits: limits}} }

// Name implements turn.Part.
func (*Part) Name() string { return "goal" }

// Bind implements turn.Driver.
func (p *Part) Bind(d turn.Driving) { p.Driving, p.keeper.stream = d, d.Stream }

// Replay applies a stored event of an earlier process.
func (p *Part) Replay(env event.Envelope) { p.keeper.Replay(env.Payload) }

// Past implements turn.Driver: goBack restores the goal as it was after the last event that seen received.
func (p *Part) Past() (seen func(event.Event), goBack func()) {
	then := &keeper{}
	return then.Replay, func() { p.keeper.Rewind(then) }
}

// errTime is the cause when a turn exceeds the goal's time limit.
var errTime = errors.New("the time for the goal is over")

// maxFound limits the output of a check that the model gets, in bytes.
const maxFound = 4 << 10

// Handle sets or changes the goal. Continuing a stopped task also resumes its goal.
func (p *Part) Handle(c event.Command) bool {
	switch c := c.(type) {
	case event.SetGoal:
		p.Approvals.Prompted()
		if err := p.set(c); err != nil {
			p.Stream.Reject("the goal was not set: %v", err)
		}
	case event.ChangeGoal:
		if err := p.change(c.To); err != nil {
			p.Stream.Reject("%v", err)
		}
	case event.Continue:
		if p.Waits() == "" {
			return false
		}
		_ = p.keeper.Resume() // can't fail, because the goal is paused
		p.Continue()
	default:
		return false
	}
	return true
}

// set starts a goal; its text is also a prompt.
func (p *Part) set(c event.SetGoal) error {
	if err := valid(c); err != nil {
		return err
	}
	if mode, _ := p.Approvals.Mode(); mode == action.ModePlan {
		return errors.New("its check can't run in plan mode (/approve ask leaves plan mode)")
	}
	if c.Check != "" {
		if err := p.Loop.Denied(command(c.Check, c.Outside)); err != nil {
			return err
		}
	}
	if c.Verdict || c.Check == "" {
		if err := p.Loop.Denied(judge(c.Goal)); err != nil {
			return err
		}
	}
	return p.Submit(c.Goal, func() {
		p.Approvals.TakeDenied()
		p.keeper.Set(c)
	})
}

// change pauses, resumes or ends the goal.
func (p *Part) change(to event.GoalState) error {
	switch to {
	case event.GoalPaused:
		if _, active := p.keeper.Active(); !active {
			return errors.New("no goal is active")
		}
		p.keeper.Pause("you paused it")
		return nil
	case event.GoalOff:
		return p.keeper.End("you ended it")
	case event.GoalActive:
		return p.resume()
	}
	return fmt.Errorf("unknown state %q of a goal (have: %s, %s, %s)", to, event.GoalActive, event.GoalPaused, event.GoalOff)
}

// resume resumes a paused goal, and starts a task if none is running.
func (p *Part) resume() error {
	if err := p.Stream.StoreError(); err != nil {
		return fmt.Errorf("the goal can't continue, because the session can't be saved: %w", err)
	}
	if _, active := p.keeper.Active(); !active {
		p.Approvals.TakeDenied() // forgets a denial, before an ending task sees the goal
	}
	if err := p.keeper.Resume(); err != nil {
		return err
	}
	p.Continue()
	return nil
}

// Run repeats turns until the model answers without tool calls and the goal, if any, is met or not active. For a
// continued task whose last message is an answer, it checks the goal first.
func (p *Part) Run(ctx context.Context, x *turn.Exchange, again bool) (event.Outcome, error) {
	if _, active := p.keeper.Active(); again && active && x.Talk().Answered() {
		if outcome := p.checkGoal(ctx, x); outcome != "" {
			return outcome, nil
		}
	}
	for {
		outcome, err := p.step(ctx, x)
		switch outcome {
		case "":
			continue
		case event.Completed:
		default:
			p.keeper.Pause(p.stopped(outcome, err))
			return outcome, err
		}
		if outcome = p.checkGoal(ctx, x); outcome != "" {
			return outcome, nil
		}
	}
}

// Ended pauses the goal if its task ended without an answer, and reports whether it is still active.
func (p *Part) Ended(outcome event.Outcome, err error) (again bool) {
	if outcome != event.Completed { // also after a panic
		p.keeper.Pause(p.stopped(outcome, err))
	}
	_, again = p.keeper.Active()
	return again
}

// Left pauses the goal of an earlier process.
func (p *Part) Left(*record.Branch) bool {
	p.keeper.Pause(Ended)
	return false
}

// Waits describes a goal that is paused because its task was stopped.
func (p *Part) Waits() string {
	if _, now := p.keeper.Goal(); now.State == event.GoalPaused && (now.Reason == Ended || now.Reason == MaxTurns) {
		return "the goal is paused · Enter resumes it"
	}
	return ""
}

// stopped describes why the goal's task stopped.
func (p *Part) stopped(outcome event.Outcome, err error) string {
	switch outcome {
	case event.Cancelled:
		if p.Closing() {
			return Ended
		}
		return "you interrupted it"
	case event.MaxTurns:
		return MaxTurns
	case event.MaxCost:
		return "the prompt reached its cost limit (max_cost)"
	case event.ContextLimit:
		return "the context is full"
	case event.GoalLimit:
		return cmp.Or(p.keeper.Exhausted(), "a limit is reached")
	}
	if err != nil {
		return err.Error()
	}
	return "the work failed"
}

// step executes one turn. Its use counts for the goal that was active at the start; the outcome is GoalLimit if that
// goal has reached a limit.
func (p *Part) step(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
	set, now := p.keeper.Goal()
	if now.State != event.GoalActive {
		return p.Loop.Step(ctx, x)
	}
	working := ctx
	if most := now.Limit.TimeMS; most > 0 {
		var cancel context.CancelFunc
		working, cancel = context.WithTimeoutCause(ctx, time.Duration(max(0, most-now.Used.TimeMS))*time.Millisecond, errTime)
		defer cancel()
	}
	if set, due := p.keeper.Due(); due {
		x.Tell(reminder.Goal, introduction(set))
	}
	turns, spend := x.Turns(), p.spending(set.ID, x)
	outcome, err := p.Loop.Step(working, x)
	if x.Turns() > turns {
		p.keeper.Called(x.Talk().Messages())
	}
	spend(x.Turns() - turns)
	if x.TakeCompacted() != nil {
		p.keeper.Forgotten()
	}
	_, active := p.keeper.Active()
	switch {
	case ctx.Err() == nil && errors.Is(context.Cause(working), errTime) && outcome == event.Cancelled:
		return event.GoalLimit, nil
	case outcome == "" && active && p.keeper.Exhausted() != "":
		return event.GoalLimit, nil
	}
	return outcome, err
}

// spending starts measuring the use for a goal; the returned function ends and records it.
func (p *Part) spending(id int, x *turn.Exchange) (end func(turns int)) {
	began := p.Now()
	before, _ := p.Ledger.Spent(x.Used())
	return func(turns int) {
		after, _ := p.Ledger.Spent(x.Used())
		p.keeper.Spend(id, event.GoalUse{Turns: turns, Cost: after - before, TimeMS: p.Now().Sub(began).Milliseconds()})
	}
}

// checkGoal checks the goal after an answer. It returns "" if the model must continue, otherwise the outcome of the
// task.
func (p *Part) checkGoal(ctx context.Context, x *turn.Exchange) event.Outcome {
	set, active := p.keeper.Active()
	if !active || p.Waiting() { // the person's message comes first, and so does the prompt of a new goal
		return event.Completed
	}
	mode, _ := p.Approvals.Mode()
	switch {
	case p.Approvals.TakeDenied():
		p.keeper.Pause("you denied a call")
		return event.Completed
	case mode == action.ModePlan:
		p.keeper.Pause("plan mode is on, so its check can't run")
		return event.Completed
	}
	spend := p.spending(set.ID, x)
	met, why, found := p.check(ctx, x, set)
	spend(0)
	switch {
	case ctx.Err() != nil:
		p.keeper.Pause(p.stopped(event.Cancelled, nil))
		return event.Cancelled
	case !p.keeper.Checked(set.ID, met, why):
		if now, active := p.keeper.Active(); active && now.ID != set.ID {
			return "" // another goal, whose prompt is queued
		}
		return event.Completed
	case p.keeper.Exhausted() != "":
		p.keeper.Pause(p.keeper.Exhausted())
		return event.GoalLimit
	case p.keeper.Stuck(why + "\n" + found):
		p.keeper.Pause(fmt.Sprintf("%d rounds in a row changed nothing, and the check had the same output", maxSame))
		return event.Completed
	}
	x.Tell(reminder.Goal, notMet(set, why, found))
	return ""
}

// command returns the call that runs the check command in the shared pane.
func command(text string, outside bool) turn.StepCall {
	return turn.Check("run_shell", map[string]any{"command": text, "why": "checks the goal", "outside": outside})
}

// judge returns the call of the subagent that judges the goal.
func judge(prompt string) turn.StepCall {
	return turn.Check(tools.Agent, map[string]any{"type": "judge", "title": "is the goal met?", "prompt": prompt, "background": false})
}

// check reports whether the goal is met. why is for people, found is the output for the model.
func (p *Part) check(ctx context.Context, x *turn.Exchange, set event.GoalSet) (met bool, why, found string) {
	checks := turn.NewSteps(p.Loop, x)
	if set.Check != "" {
		call := command(set.Check, set.Outside)
		call.Timeout = time.Duration(p.keeper.limits.CheckMinutes) * time.Minute
		end := checks.Run(ctx, call)
		found = compact.Clip(end.Result, maxFound)
		switch {
		case end.Late:
			return false, fmt.Sprintf("the check command did not end within %s and was stopped", call.Timeout), found
		case end.ExitCode == nil:
			return false, "the check command did not finish", found
		case *end.ExitCode != 0:
			why = fmt.Sprintf("the check command ended with exit code %d", *end.ExitCode)
			if end.Fenced {
				why += " in the sandbox (--check-outside runs it outside)"
			}
			return false, why, found
		case !set.Verdict:
			return true, "the check command ended with exit code 0", found
		}
	}
	end := checks.Run(ctx, judge(question(set, found)))
	if end.IsError {
		return false, "there is no verdict: " + end.Result, ""
	}
	met, why = verdict(inject.Defuse(end.Tail, inject.Scan(end.Tail))) // the model may get it, too
	return met, why, compact.Clip(end.Result, maxFound)
}
