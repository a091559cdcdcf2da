package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/inject"
	"buddy/agent/stream"
	"buddy/tools"
)

// Checks makes the calls that find out whether a goal is met. A person has approved them with the goal.
type Checks struct{ Loop *Loop }

// Command returns what to call to run a command in the shared pane. In mode auto it runs inside the fence, because it
// executes what commands there have changed; unless it is to run outside.
func (Checks) Command(command string, outside bool) StepCall {
	return check(commandTool, map[string]any{"command": command, "why": "checks the goal", "outside": outside})
}

// Judge returns what to call for the verdict of a subagent of the given kind.
func (Checks) Judge(kind, prompt string) StepCall {
	return check(tools.Agent, map[string]any{"type": kind, "title": "is the goal met?", "prompt": prompt, "background": false})
}

const (
	checkID = "check_"
	typedID = "user_" // of a command that a person typed
)

// isOwn reports whether a call that is in no answer was made by a person or for a goal.
func isOwn(id string) bool { return strings.HasPrefix(id, checkID) || strings.HasPrefix(id, typedID) }

func check(tool string, args map[string]any) StepCall {
	text, _ := json.Marshal(args) // strings and booleans can be encoded
	return StepCall{ID: checkID + stream.NewID(), Name: tool, Arguments: string(text), Approved: true}
}

// Denied returns why a call may not be made, nil if it may: there is no such tool, or the policy denies
// it in every mode.
func (c Checks) Denied(call StepCall) error {
	p := c.Loop.p
	tool, resolved, err := p.Selection.Tools().Resolve(tools.Call{ID: call.ID, Name: call.Name, Arguments: call.Arguments, Reader: 0})
	if err != nil {
		return err
	}
	act, err := tools.PlanSafely(tool, resolved)
	if err != nil {
		return err
	}
	if why := p.Approvals.Denied(act); why != "" {
		return fmt.Errorf("denied by the policy: %s", why)
	}
	return nil
}

// Run makes a call for an exchange and waits for its end. A subagent only reads. What is for people in
// the result can be told to the model, too: prompt injections are marked in it as well.
func (c Checks) Run(ctx context.Context, x *Exchange, call StepCall) StepEnd {
	reads := *c.Loop
	reads.agent.Most = action.ModePlan // for agents; who typed the command has approved it
	end := NewSteps(&reads, x).Run(ctx, call)
	end.Tail = inject.Defuse(end.Tail, inject.Scan(end.Tail))
	return end
}
