package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/event"
	"buddy/agent/goal"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/settings"
	"buddy/agent/turn"
	"buddy/tools"
)

// goals keep the main task going for the goal of the session. The lock of tasks is taken before that of
// the keeper.
type goals struct {
	tasks  *tasks
	o      settings.Goal
	keeper *goal.Keeper
}

// errGoalTime says why a turn was stopped that worked for a goal.
var errGoalTime = errors.New("the time for the goal is over")

// maxFound limits what a model reads of what a check gave, in bytes.
const maxFound = 4 << 10

// set begins a goal: its text is a prompt, too.
func (g *goals) set(c event.SetGoal) {
	s := g.tasks
	err := goal.Check(c)
	if mode, _ := s.approvals.Mode(); err == nil && mode == action.ModePlan {
		err = errors.New("in mode plan nothing runs that could check it (/approve ask ends that mode)")
	}
	if err == nil && c.Check != "" {
		err = s.loop.Denied(command(c.Check, c.Outside))
	}
	if err == nil && (c.Verdict || c.Check == "") {
		err = s.loop.Denied(verdictOf(c.Goal))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = s.takes(model.Message{Content: c.Goal})
	}
	if err != nil {
		s.stream.Reject("the goal was not set: %v", err)
		return
	}
	s.approvals.TakeDenied()
	g.keeper.Set(c)
	s.enter(s.main, event.MainTask, s.newPrompt(c.Goal, nil))
}

// change pauses the goal, resumes it or ends it.
func (g *goals) change(c event.ChangeGoal) {
	var err error
	switch c.To {
	case event.GoalPaused:
		if _, active := g.keeper.Active(); !active {
			err = errors.New("no goal is worked for")
		}
		g.keeper.Pause("you paused it")
	case event.GoalOff:
		err = g.keeper.End("you ended it")
	case event.GoalActive:
		err = g.resume()
	default:
		err = fmt.Errorf("unknown state %q of a goal (have: %s, %s, %s)", c.To, event.GoalActive, event.GoalPaused, event.GoalOff)
	}
	if err != nil {
		g.tasks.stream.Reject("%v", err)
	}
}

// resume goes on with a paused goal: what runs is kept going again, else a task begins.
func (g *goals) resume() error {
	s := g.tasks
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stream.ReadOnly(); err != nil {
		return fmt.Errorf("the goal does not go on, because nothing can be recorded: %w", err)
	}
	if err := g.keeper.Resume(); err != nil {
		return err
	}
	s.approvals.TakeDenied()
	if s.main.task == nil {
		s.start(s.main, event.MainTask, nil, g.goOn)
	}
	return nil
}

// goOn takes up the work for a goal, or what was interrupted. What ended with an answer is checked
// first.
func (g *goals) goOn(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
	if _, active := g.keeper.Active(); active && g.tasks.tree.Main().Answered() {
		if outcome := g.asksOn(ctx, x); outcome != "" {
			return outcome, nil
		}
	}
	return g.run(ctx, x)
}

// run repeats turns until the model answers without calling tools and the goal, if there is one, is met
// or no longer worked for.
func (g *goals) run(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
	for {
		outcome, err := g.step(ctx, x)
		switch outcome {
		case "":
			continue
		case event.Completed:
		default:
			g.keeper.Pause(g.stopped(outcome, err))
			return outcome, err
		}
		if outcome = g.asksOn(ctx, x); outcome != "" {
			return outcome, nil
		}
	}
}

// stopped says why a task stopped that worked for a goal.
func (g *goals) stopped(outcome event.Outcome, err error) string {
	switch outcome {
	case event.Cancelled:
		if g.tasks.life.ended() {
			return goal.Ended
		}
		return "you interrupted it"
	case event.MaxTurns:
		return goal.MaxTurns
	case event.MaxCost:
		return "one prompt has cost as much as it may (max_cost)"
	case event.ContextLimit:
		return "the context is full"
	case event.GoalLimit:
		return cmp.Or(g.keeper.Exhausted(), "a limit is reached")
	}
	if err != nil {
		return err.Error()
	}
	return "the work failed"
}

// step is one turn. What it uses counts for the goal that was there before it; the outcome is
// GoalLimit when that may use no more.
func (g *goals) step(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
	loop := g.tasks.loop
	set, active := g.keeper.Active()
	if !active {
		return loop.Step(ctx, x)
	}
	working := ctx
	if left, limited := g.keeper.Left(); limited {
		var cancel context.CancelFunc
		working, cancel = context.WithTimeoutCause(ctx, left, errGoalTime)
		defer cancel()
	}
	if set, due := g.keeper.Due(); due {
		x.Tell(reminder.Goal, goal.Begun(set))
	}
	turns, spend := x.Turns(), g.spending(set.ID, x)
	outcome, err := loop.Step(working, x)
	if x.Turns() > turns {
		g.keeper.Called(callsOfLastAnswer(g.tasks.tree.Main().Messages()))
	}
	spend(x.Turns() - turns)
	if x.TakeCompacted() != nil {
		g.keeper.Forgotten()
	}
	_, active = g.keeper.Active()
	switch {
	case ctx.Err() == nil && errors.Is(context.Cause(working), errGoalTime) && outcome == event.Cancelled:
		return event.GoalLimit, nil
	case outcome == "" && active && g.keeper.Exhausted() != "":
		return event.GoalLimit, nil
	}
	return outcome, err
}

// spending begins to count what is used for a goal; the returned function ends that.
func (g *goals) spending(id int, x *turn.Exchange) (end func(turns int)) {
	s := g.tasks
	began := s.clock.now()
	before, _ := s.ledger.Spent(x.Used())
	return func(turns int) {
		after, _ := s.ledger.Spent(x.Used())
		g.keeper.Spend(id, event.GoalUse{Turns: turns, Cost: after - before, TimeMS: s.clock.now().Sub(began).Milliseconds()})
	}
}

// callsOfLastAnswer returns the calls of the last answer.
func callsOfLastAnswer(msgs []model.Message) []model.ToolCall {
	for _, m := range slices.Backward(msgs) {
		if m.Role == model.Assistant {
			return m.ToolCalls
		}
	}
	return nil
}

// asksOn checks the goal at the end of an answer. It returns "" when the model was told to go on, else
// how the task ends.
func (g *goals) asksOn(ctx context.Context, x *turn.Exchange) event.Outcome {
	s := g.tasks
	s.mu.Lock()
	set, active := g.keeper.Active()
	waits := len(s.main.talk.Queue()) > 0
	s.mu.Unlock()
	if !active || waits { // what the person said comes first
		return event.Completed
	}
	if why := g.hindrance(); why != "" {
		g.keeper.Pause(why)
		return event.Completed
	}
	spend := g.spending(set.ID, x)
	met, why, found := g.check(ctx, x, set)
	spend(0)
	switch {
	case ctx.Err() != nil:
		g.keeper.Pause(g.stopped(event.Cancelled, nil))
		return event.Cancelled
	case !g.keeper.Checked(set.ID, met, why):
		if now, active := g.keeper.Active(); active && now.ID != set.ID {
			return "" // another one, whose prompt waits
		}
		return event.Completed
	case g.keeper.Exhausted() != "":
		g.keeper.Pause(g.keeper.Exhausted())
		return event.GoalLimit
	case g.keeper.Stuck(why + "\n" + found):
		g.keeper.Pause(fmt.Sprintf("%d rounds in a row changed nothing, and the check said the same", goal.MaxSame))
		return event.Completed
	}
	x.Tell(reminder.Goal, goal.NotMet(set, why, found))
	return ""
}

// hindrance returns why the goal is not worked for any more, "" if it is.
func (g *goals) hindrance() string {
	approvals := g.tasks.approvals
	if approvals.TakeDenied() {
		return "you denied a call"
	}
	if mode, _ := approvals.Mode(); mode == action.ModePlan {
		return "mode is plan, in which nothing runs that could check it"
	}
	return ""
}

// command returns the call that runs the command of a goal in the shared pane.
func command(text string, outside bool) turn.StepCall {
	return turn.Check("run_shell", map[string]any{"command": text, "why": "checks the goal", "outside": outside})
}

// verdictOf returns the call of the built-in subagent that says whether a goal is met.
func verdictOf(prompt string) turn.StepCall {
	return turn.Check(tools.Agent, map[string]any{"type": goal.Judge, "title": "is the goal met?", "prompt": prompt, "background": false})
}

// check finds out whether a goal is met: why is for people, found is what the model reads.
func (g *goals) check(ctx context.Context, x *turn.Exchange, set event.GoalSet) (met bool, why, found string) {
	checks := turn.NewSteps(g.tasks.loop, x)
	if set.Check != "" {
		call := command(set.Check, set.Outside)
		call.Timeout = time.Duration(g.o.CheckMinutes) * time.Minute
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
				why += " inside the fence (--check-outside lets it run outside)"
			}
			return false, why, found
		case !set.Verdict:
			return true, "its command ended with exit code 0", found
		}
	}
	end := checks.Run(ctx, verdictOf(goal.Question(set, found)))
	if end.IsError {
		return false, "there is no verdict: " + end.Result, ""
	}
	met, why = goal.Verdict(inject.Defuse(end.Tail, inject.Scan(end.Tail))) // it can be told to the model, too
	return met, why, compact.Clip(end.Result, maxFound)
}

// Goal is the goal of a session, and how far it is: its State is "" while there was none.
type Goal struct {
	Set event.GoalSet
	Now event.GoalChanged
}

// GoalOf returns the goal. Any goroutine may call it.
func GoalOf(r *Runtime) (g Goal) {
	g.Set, g.Now = r.tasks.goals.keeper.Goal()
	return g
}
