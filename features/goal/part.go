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

// Part keeps the main task of a session going for its goal. It is a [turn.Driver]; use New.
type Part struct {
	turn.Nothing
	turn.Driving
	keeper *keeper
}

// New returns a part without a goal. The limits are those of a goal that says nothing of them.
func New(limits *Limits) *Part { return &Part{keeper: &keeper{limits: limits}} }

// Name returns the name of the feature.
func (*Part) Name() string { return "goal" }

// Bind takes what the part works with.
func (p *Part) Bind(d turn.Driving) { p.Driving, p.keeper.stream = d, d.Stream }

// Replay feeds a stored event of an earlier process.
func (p *Part) Replay(env event.Envelope) { p.keeper.Replay(env.Payload) }

// Past returns what makes the goal that of an earlier moment.
func (p *Part) Past() (seen func(event.Event), goBack func()) {
	then := &keeper{}
	return then.Replay, func() { p.keeper.Rewind(then) }
}

// errTime says why a turn was stopped that worked for a goal.
var errTime = errors.New("the time for the goal is over")

// maxFound limits what a model reads of what a check gave, in bytes.
const maxFound = 4 << 10

// Handle sets or changes the goal. Who continues what has stopped wants its goal as well.
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
		_ = p.keeper.Resume() // it is paused
		p.Continue()
	default:
		return false
	}
	return true
}

// set begins a goal: its text is a prompt, too.
func (p *Part) set(c event.SetGoal) error {
	if err := valid(c); err != nil {
		return err
	}
	if mode, _ := p.Approvals.Mode(); mode == action.ModePlan {
		return errors.New("plan mode runs nothing that could check it (/approve ask leaves plan mode)")
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

// change pauses the goal, resumes it or ends it.
func (p *Part) change(to event.GoalState) error {
	switch to {
	case event.GoalPaused:
		if _, active := p.keeper.Active(); !active {
			return errors.New("no goal is worked for")
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

// resume goes on with a paused goal: what runs is kept going again, else a task begins.
func (p *Part) resume() error {
	if err := p.Stream.StoreError(); err != nil {
		return fmt.Errorf("the goal can't continue, because the session can't be saved: %w", err)
	}
	if _, active := p.keeper.Active(); !active {
		p.Approvals.TakeDenied() // before a task that ends now sees the goal
	}
	if err := p.keeper.Resume(); err != nil {
		return err
	}
	p.Continue()
	return nil
}

// Run repeats turns until the model answers without calling tools and the goal, if there is one, is met
// or no longer worked for. What ended with an answer is checked first when it goes on.
func (p *Part) Run(ctx context.Context, x *turn.Exchange, again bool) (event.Outcome, error) {
	if _, active := p.keeper.Active(); again && active && x.Talk().Answered() {
		if outcome := p.asksOn(ctx, x); outcome != "" {
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
		if outcome = p.asksOn(ctx, x); outcome != "" {
			return outcome, nil
		}
	}
}

// Ended pauses the goal of a task that ended without an answer, and reports whether it is still worked for.
func (p *Part) Ended(outcome event.Outcome, err error) (again bool) {
	if outcome != event.Completed { // a panic, too, or what else had no part in the goal
		p.keeper.Pause(p.stopped(outcome, err))
	}
	_, again = p.keeper.Active()
	return again
}

// Left pauses the goal that an earlier process worked for.
func (p *Part) Left(*record.Branch) bool {
	p.keeper.Pause(Ended)
	return false
}

// Waits tells a person of a goal that is paused only because its task has stopped.
func (p *Part) Waits() string {
	if _, now := p.keeper.Goal(); now.State == event.GoalPaused && (now.Reason == Ended || now.Reason == MaxTurns) {
		return "the goal is paused · Enter resumes it"
	}
	return ""
}

// stopped says why a task stopped that worked for a goal.
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
		return "one prompt has cost as much as it may (max_cost)"
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

// step is one turn. What it uses counts for the goal that was there before it; the outcome is
// GoalLimit when that may use no more.
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
		x.Tell(reminder.Goal, begun(set))
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

// spending begins to count what is used for a goal; the returned function ends that.
func (p *Part) spending(id int, x *turn.Exchange) (end func(turns int)) {
	began := p.Now()
	before, _ := p.Ledger.Spent(x.Used())
	return func(turns int) {
		after, _ := p.Ledger.Spent(x.Used())
		p.keeper.Spend(id, event.GoalUse{Turns: turns, Cost: after - before, TimeMS: p.Now().Sub(began).Milliseconds()})
	}
}

// asksOn checks the goal at the end of an answer. It returns "" when the model was told to go on, else
// how the task ends.
func (p *Part) asksOn(ctx context.Context, x *turn.Exchange) event.Outcome {
	set, active := p.keeper.Active()
	if !active || p.Waiting() { // what the person said comes first, as does the prompt of a goal that was just set
		return event.Completed
	}
	mode, _ := p.Approvals.Mode()
	switch {
	case p.Approvals.TakeDenied():
		p.keeper.Pause("you denied a call")
		return event.Completed
	case mode == action.ModePlan:
		p.keeper.Pause("mode is plan, in which nothing runs that could check it")
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
			return "" // another one, whose prompt waits
		}
		return event.Completed
	case p.keeper.Exhausted() != "":
		p.keeper.Pause(p.keeper.Exhausted())
		return event.GoalLimit
	case p.keeper.Stuck(why + "\n" + found):
		p.keeper.Pause(fmt.Sprintf("%d rounds in a row changed nothing, and the check said the same", maxSame))
		return event.Completed
	}
	x.Tell(reminder.Goal, notMet(set, why, found))
	return ""
}

// command returns the call that runs the command of a goal in the shared pane.
func command(text string, outside bool) turn.StepCall {
	return turn.Check("run_shell", map[string]any{"command": text, "why": "checks the goal", "outside": outside})
}

// judge returns the call of the built-in subagent that says whether a goal is met.
func judge(prompt string) turn.StepCall {
	return turn.Check(tools.Agent, map[string]any{"type": "judge", "title": "is the goal met?", "prompt": prompt, "background": false})
}

// check finds out whether a goal is met: why is for people, found is what the model reads.
func (p *Part) check(ctx context.Context, x *turn.Exchange, set event.GoalSet) (met bool, why, found string) {
	checks := turn.NewSteps(p.Loop, x)
	if set.Check != "" {
		call := command(set.Check, set.Outside)
		call.Timeout = time.Duration(p.keeper.limits.CheckMinutes) * time.Minute
		end := checks.Run(ctx, call)
		found = compact.Clip(end.Result, maxFound)
		switch {
		case end.Late:
			return false, fmt.Sprintf("its command did not end within %s and was stopped", call.Timeout), found
		case end.ExitCode == nil:
			return false, "its command could not be run to its end", found
		case *end.ExitCode != 0:
			why = fmt.Sprintf("its command ended with exit code %d", *end.ExitCode)
			if end.Fenced {
				why += " in the sandbox (--check-outside runs it outside)"
			}
			return false, why, found
		case !set.Verdict:
			return true, "its command ended with exit code 0", found
		}
	}
	end := checks.Run(ctx, judge(question(set, found)))
	if end.IsError {
		return false, "there is no verdict: " + end.Result, ""
	}
	met, why = verdict(inject.Defuse(end.Tail, inject.Scan(end.Tail))) // it can be told to the model, too
	return met, why, compact.Clip(end.Result, maxFound)
}
