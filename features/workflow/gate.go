package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/extensions/workflow"
	"buddy/texts"
	"buddy/tools"
)

// pass is the outcome of a gate. If the step may not start, state is the step's state.
type pass struct {
	ok    bool
	state event.WorkflowState
	why   string
}

// question is the text for hooks when the person is asked.
const question = "buddy asks a question"

// denied starts the reason of a step that a gate stopped.
const denied = "denied at its gate"

var errGateTimeout = errors.New("nobody answered in time")

// gate asks the user whether a step may start or, if n is above 0, whether it may start for item n. A missing, late or
// unknown answer denies, unless the gate has another default.
func (r *run) gate(ctx context.Context, s *workflow.Step, n int, item string) pass {
	g := s.Gate
	sc := r.scope(item)
	if g.Type == workflow.Conditional {
		asks, err := g.When.Holds(sc, func(path string) (bool, error) { return r.p.Exists(ctx, s.On(sc), path) })
		switch {
		case err != nil:
			return pass{state: event.WorkflowFailed, why: "its gate's condition: " + err.Error()}
		case !asks:
			return pass{ok: true}
		}
	}
	text := g.Message.Text(sc)
	if err := r.publish(event.WorkflowStepped{Run: r.rec.Run, Step: s.ID, Item: n, State: event.WorkflowWaiting, Why: texts.Clip(texts.OneLine(text), maxWhy)}); err != nil {
		return pass{state: event.WorkflowFailed, why: err.Error()}
	}
	asking := ctx
	if g.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, g.Timeout, errGateTimeout)
		defer cancel()
		asking = limited
		text += fmt.Sprintf("\n(if nobody answers within %s: %s)", duration(g.Timeout), map[bool]string{true: "passed", false: "denied"}[g.Default])
	}
	a, err := r.p.steps.Ask(asking, question, event.QuestionAsked{From: r.from(), Gate: s.ID, Text: text, Choices: event.GateChoices})
	switch {
	case r.over(ctx):
		return pass{}
	case errors.Is(err, errGateTimeout) && g.Default:
		return pass{ok: true}
	case errors.Is(err, errGateTimeout):
		return refused(g, fmt.Sprintf("nobody answered within %s", duration(g.Timeout)))
	case errors.Is(err, tools.ErrNobody):
		return refused(g, "nobody was there to ask")
	case err != nil:
		return refused(g, err.Error())
	}
	answer := strings.TrimSpace(a.Text)
	if slices.Contains([]string{event.GatePass, "yes", "y"}, strings.ToLower(answer)) {
		return pass{ok: true}
	}
	if slices.Contains(event.GateChoices, answer) {
		answer = ""
	}
	return refused(g, answer)
}

// refused returns the effect of a denial on the step.
func refused(g *workflow.Gate, why string) pass {
	p := pass{state: event.WorkflowFailed, why: denied}
	if g.Type == workflow.Optional {
		p.state = event.WorkflowSkipped
	}
	if why != "" {
		p.why += ": " + why
	}
	return p
}

// duration formats a duration without zero units.
func duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
