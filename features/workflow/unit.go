package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/agent/turn"
	"buddy/extensions/workflow"
	"buddy/texts"
)

// unit executes one call of a step, with its repetitions.
func (r *run) unit(ctx context.Context, s *workflow.Step, n int, item string) {
	at := r.at(s, n)
	if at.state.Ended() {
		return
	}
	attempt := at.attempt
	switch done := r.settle(ctx, s, n, item, at); {
	case done || r.over(ctx):
		return
	case at.call != "" && at.began == nil:
		attempt-- // the call never started
	}
	if s.Gate != nil && s.Gate.PerItem && at.state != event.WorkflowRunning {
		if pass := r.gate(ctx, s, n, item); !pass.ok {
			if !r.over(ctx) {
				r.endUnit(s, n, event.WorkflowSkipped, pass.why)
			}
			return
		}
	}
	if s.Tool == workflow.Runner {
		r.nested(ctx, s, n, item)
		return
	}
	r.attempts(ctx, s, n, item, max(attempt, 0))
}

// attempts calls the tool until it succeeds or may not be repeated.
func (r *run) attempts(ctx context.Context, s *workflow.Step, n int, item string, before int) {
	for attempt := before + 1; !r.over(ctx); attempt++ {
		call, err := r.call(s, item)
		if err != nil {
			r.endUnit(s, n, event.WorkflowFailed, err.Error())
			return
		}
		if err := r.publish(event.WorkflowStepped{Run: r.rec.Run, Step: s.ID, Item: n, State: event.WorkflowRunning, CallID: call.ID, Attempt: attempt}); err != nil {
			r.stop(err)
			return
		}
		end := r.run(ctx, call)
		if r.finish(ctx, s, n, attempt, end) {
			return
		}
		pause(ctx, s.OnError.Wait)
	}
}

// pause waits for d and reports true, or reports false as soon as ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// run runs a call. Simultaneous commands on one target get separate panes.
func (r *run) run(ctx context.Context, call stepCall) turn.StepEnd {
	r.mu.Lock()
	r.panes[call.target]++
	beside := r.panes[call.target] > 1
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.panes[call.target]--
	}()
	if beside {
		call.OwnPane = r.rec.Name + " " + call.step
	}
	return r.p.steps.Run(ctx, call.StepCall)
}

// finish records the result of a call and reports whether no further attempt follows.
func (r *run) finish(ctx context.Context, s *workflow.Step, n, attempt int, end turn.StepEnd) bool {
	r.book.result(end.ToolResult)
	if r.over(ctx) {
		if !r.p.Closing() {
			r.endUnit(s, n, event.WorkflowCancelled, "")
		}
		return true
	}
	got := r.at(s, n).got
	switch {
	case got == nil: // can't happen, because it was just recorded
		r.endUnit(s, n, event.WorkflowFailed, "it returned nothing")
	case got.ok:
		r.endUnit(s, n, event.WorkflowCompleted, "")
	case attempt <= s.OnError.Retry && !end.Denied:
		return false
	default:
		if end.Denied {
			r.refused.Store(true)
		}
		r.endUnit(s, n, event.WorkflowFailed, got.problem)
	}
	return true
}

// at returns a copy of a unit.
func (r *run) at(s *workflow.Step, n int) unit {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	if u := r.rec.steps[s.ID].units[n]; u != nil {
		return *u
	}
	return unit{}
}

// endUnit ends a unit.
func (r *run) endUnit(s *workflow.Step, n int, state event.WorkflowState, why string) {
	e := event.WorkflowStepped{Run: r.rec.Run, Step: s.ID, Item: n, State: state, Why: texts.Clip(texts.OneLine(why), maxWhy)}
	if err := r.publish(e); err != nil {
		r.stop(err)
	}
}

// stepCall is a call with its step and target.
type stepCall struct {
	turn.StepCall
	step, target string
}

// call returns the call of a step for an item.
func (r *run) call(s *workflow.Step, item string) (stepCall, error) {
	sc := r.scope(item)
	arguments, err := s.Arguments(sc)
	if err != nil {
		return stepCall{}, err
	}
	target, args := s.On(sc), string(arguments)
	if target == r.p.Single {
		target = "" // tools take no target if there is only one
	}
	if target != "" {
		if args, err = withTarget(arguments, target); err != nil {
			return stepCall{}, err
		}
	}
	return stepCall{StepCall: turn.StepCall{ID: "step_" + stream.NewID(), Name: s.Tool, Arguments: args, Timeout: s.Timeout}, step: s.ID, target: target}, nil
}

var errUnknownEnd = errors.New("buddy ended while it ran, and its outcome is unknown")

// Answers to the question about a call with an unknown outcome.
const (
	runAgain    = "run it again"
	treatDone   = "treat it as done"
	treatFailed = "treat it as failed"
)

// settle ends a call of an earlier process if its outcome is known, or asks the person.
func (r *run) settle(ctx context.Context, s *workflow.Step, n int, item string, at unit) (done bool) {
	if at.call == "" || at.began == nil && (at.got == nil || !at.got.ok) { // the call never ran
		return false
	}
	end := turn.StepEnd{}
	if at.got == nil {
		call, err := r.call(s, item)
		if err != nil {
			r.endUnit(s, n, event.WorkflowFailed, err.Error())
			return true
		}
		call.ID = at.call
		end = r.p.steps.Recover(ctx, call.StepCall, at.began.Dir)
		if end.Unknown && !r.over(ctx) {
			return r.decide(ctx, s, n, item, call)
		}
		return r.finish(ctx, s, n, at.attempt, end)
	}
	switch {
	case at.got.ok:
		r.endUnit(s, n, event.WorkflowCompleted, "")
	case at.got.unknown:
		call, err := r.call(s, item)
		if err != nil {
			r.endUnit(s, n, event.WorkflowFailed, err.Error())
			return true
		}
		return r.decide(ctx, s, n, item, call)
	case at.attempt <= s.OnError.Retry:
		return false
	default:
		r.endUnit(s, n, event.WorkflowFailed, at.got.problem)
	}
	return true
}

// decide asks the person about a call with an unknown outcome, unless repeating it is harmless.
func (r *run) decide(ctx context.Context, s *workflow.Step, n int, item string, call stepCall) (done bool) {
	if r.p.steps.Harmless(ctx, call.StepCall) {
		return false
	}
	text := fmt.Sprintf("Step %s%s of the workflow %s was running when buddy ended, and its outcome is unknown.\n%s", s.ID, forItem(item), r.rec.Name, texts.Clip(call.Arguments, 400))
	a, err := r.p.steps.Ask(ctx, question, event.QuestionAsked{CallID: call.ID, From: r.from(), Gate: s.ID, Text: text, Choices: []string{runAgain, treatDone, treatFailed}})
	switch {
	case r.over(ctx):
		return true
	case err != nil:
		r.endUnit(s, n, event.WorkflowFailed, errUnknownEnd.Error())
	case a.Text == runAgain:
		return false
	case a.Text == treatDone:
		r.endUnit(s, n, event.WorkflowCompleted, "treated as done by the person")
	default:
		r.endUnit(s, n, event.WorkflowFailed, errUnknownEnd.Error())
	}
	return true
}

// from is the name under which the workflow asks questions.
func (r *run) from() string { return "workflow " + r.rec.Name }

// forItem names an item, if there is one.
func forItem(item string) string {
	if item == "" {
		return ""
	}
	return " for " + texts.Clip(texts.OneLine(item), 80)
}

// withTarget adds the target to the arguments of a call.
func withTarget(arguments json.RawMessage, target string) (string, error) {
	args := make(map[string]json.RawMessage)
	if err := json.Unmarshal(arguments, &args); err != nil {
		return "", err
	}
	name, err := texts.JSON(target)
	if err != nil {
		return "", err
	}
	args["target"] = name
	all, err := texts.JSON(args)
	return string(all), err
}
