package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/tools"
)

// Limits for a call that fails in the same way in one exchange.
const (
	maxFailures = 2 // after that it is not run any more, unless it is a command
	hintAt      = 3 // the result asks the model to do something else
	stuckAt     = 5 // the person decides about this attempt
)

// failed counts equal failures of a call in a row.
type failed struct {
	text  string
	times int
}

// remember counts the failures of a call. The success of a call that may have changed something clears all counts.
func (x *Exchange) remember(j *job, res tools.Result) {
	x.mu.Lock()
	defer x.mu.Unlock()
	act := j.call.Planned
	exit := res.ExitCode
	if !res.IsError && (exit == nil || *exit == 0) {
		delete(x.failed, j.key())
		if act.Mutation && !j.call.Confined {
			clear(x.failed)
		}
		return
	}
	text := tools.Why(res)
	if exit != nil { // the full result may contain times that differ
		text = strings.TrimSpace(fmt.Sprintf("exit code %d\n%s", *exit, lastBytes(res.Tail)))
	}
	f := x.failed[j.key()]
	if f.text != text {
		f = failed{text: text}
	}
	f.times++
	x.failed[j.key()] = f
}

// again returns the result for a call that has failed in the same way too often, or nil if it may run. A command may
// work later, so it runs until the person is asked.
func again(ctx context.Context, b *batch, j *job) *tools.Result {
	b.x.mu.Lock()
	f := b.x.failed[j.key()]
	refused := !j.typed && f.times >= maxFailures && !j.call.Planned.Kind.IsCommand()
	if refused && f.times < stuckAt-1 {
		b.x.failed[j.key()] = failed{f.text, f.times + 1}
	}
	b.x.mu.Unlock()
	switch {
	case j.typed:
		return nil
	case f.times >= stuckAt-1:
		return stuck(ctx, b, j, f)
	case !refused:
		return nil
	}
	res := tools.Problem(fmt.Sprintf("not run: the same call failed %d times before", maxFailures))
	res.Tell("Change the arguments, or do something else. The error: " + f.text)
	return &res
}

// Choices for the person when a model is stuck. Any other text goes to the model.
const (
	tryAgain  = "Yes, try again"
	stopStuck = "No, stop"
)

// stuck asks the person about a call that the model makes for the fifth time. If nobody can answer, the exchange
// ends.
func stuck(ctx context.Context, b *batch, j *job, f failed) *tools.Result {
	e := &StuckError{Tool: j.call.Name, Call: subjectOf(j.call), Text: f.text}
	ask := b.ask(j.call.ID)
	if ask == nil {
		b.x.stop(e)
		return new(failure("Not run: " + e.Error()))
	}
	reply, err := ask(ctx, tools.Question{From: "buddy", Text: e.question(), Choices: []string{tryAgain, stopStuck}})
	switch {
	case errors.Is(err, tools.ErrNobody):
		b.x.stop(e)
		return new(failure("Not run: " + e.Error()))
	case err != nil:
		return new(unanswered(ctx))
	case reply == stopStuck:
		b.x.stop(nil)
		return new(unanswered(ctx))
	}
	b.x.mu.Lock()
	delete(b.x.failed, j.key())
	b.x.mu.Unlock()
	if reply == tryAgain {
		return nil
	}
	return new(failure("Not run: the same call failed before. The user says: " + reply))
}

// subjectOf returns the command, path or arguments of a call on one line.
func subjectOf(c tools.Call) string {
	text := c.Arguments
	if act := c.Planned; act.Kind.IsCommand() {
		text = act.Command
	} else if act.Path != "" && (act.Kind == action.FileRead || act.Kind == action.FileWrite) {
		text = act.Path
	}
	return onLine(text)
}

// StuckError ends an exchange whose model keeps making a call that fails in the same way.
type StuckError struct{ Tool, Call, Text string }

// Error names the call and its failure.
func (e *StuckError) Error() string {
	return fmt.Sprintf("the model made the same call %d times, and it failed in the same way each time: %s %s: %s; tell it what to do instead, or choose another model with /model", stuckAt, e.Tool, e.Call, onLine(e.Text))
}

func (e *StuckError) question() string {
	return fmt.Sprintf("The agent is making the same call for the %dth time, and it failed in the same way each time.\n%s %s\n%s\nShould it try again? You can also type what to do instead.", stuckAt, e.Tool, e.Call, onLine(e.Text))
}
