package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/agent/stream"
	"buddy/tools"
)

// OwnCalls makes calls that no model asked for and a person has approved by what they typed: those that
// check a goal. They are shown and stored as any other, but are no part of the history.
type OwnCalls struct{ Loop *Loop }

// ErrTime is why a call was stopped that took longer than it may.
var ErrTime = errors.New("the time for it is over")

// Found is what a call gave, without secrets and with prompt injections marked.
type Found struct {
	Call     string // its id
	Text     string // as a model reads it
	Tail     string // as a person reads it
	ExitCode *int   // of a command
	IsError  bool
	Late     bool // it was stopped because of its time
}

// Command returns what to call to run a command in the shared pane.
func (OwnCalls) Command(command, why string) model.ToolCall {
	return ownCall(commandTool, map[string]any{"command": command, "why": why})
}

// Judge returns what to call for the verdict of a subagent.
func (OwnCalls) Judge(kind, title, prompt string) model.ToolCall {
	return ownCall(tools.Agent, map[string]any{"type": kind, "title": title, "prompt": prompt, "background": false})
}

const (
	checkID = "check_"
	typedID = "user_" // of a command that a person typed
)

// isOwn reports whether a call that is in no answer was made by a person or for a goal.
func isOwn(id string) bool { return strings.HasPrefix(id, checkID) || strings.HasPrefix(id, typedID) }

func ownCall(tool string, args map[string]any) model.ToolCall {
	text, _ := json.Marshal(args) // strings and booleans can be encoded
	return model.ToolCall{ID: checkID + stream.NewID(), Name: tool, Arguments: string(text)}
}

// Denied returns why a call may not be made, nil if it may: there is no such tool, or the policy denies
// it in every mode.
func (o OwnCalls) Denied(c model.ToolCall) error {
	p := o.Loop.p
	tool, call, err := p.Selection.Tools().Resolve(tools.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Reader: 0})
	if err != nil {
		return err
	}
	act, err := tools.PlanSafely(tool, call)
	if err != nil {
		return err
	}
	if why := p.Approvals.Denied(act); why != "" {
		return fmt.Errorf("denied by the policy: %s", why)
	}
	return nil
}

// Make makes a call of a task and waits for its end, at most as long as limit, 0 for without limit. What
// the policy denies in every mode does not run. A subagent only reads.
func (o OwnCalls) Make(ctx context.Context, x *Exchange, c model.ToolCall, limit time.Duration) Found {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, ErrTime)
		defer cancel()
	}
	reads := *o.Loop
	reads.agent.Most = action.ModePlan // for agents; who typed the command has approved it
	b := reads.newBatch(ctx, x, 0)
	defer b.cancel(nil)
	j := b.plan(c)
	b.request(j)
	res := o.run(ctx, b, j)
	late := errors.Is(context.Cause(ctx), ErrTime)
	if late {
		res.ExitCode, res.IsError, res.Content = nil, true, fmt.Sprintf("Stopped after %s, the time for it. %s", limit, res.Content)
	}
	found := Found{Call: j.call.ID, ExitCode: res.ExitCode, IsError: res.IsError, Late: late}
	b.finish(j, res)
	x.mu.Lock()
	x.got.given = nil // no part of the history, so there is nothing to shorten
	x.mu.Unlock()
	found.Text = j.result.Result
	found.Tail = marked(reads.p, x, 0, "what "+j.call.Name+" returned", reads.o.Redact.Text(strings.ToValidUTF8(res.Tail, "")))
	return found
}

// run runs a call that was planned.
func (o OwnCalls) run(ctx context.Context, b *batch, j *job) tools.Result {
	if j.err != nil {
		return failure("Tool error: " + j.err.Error())
	}
	if why := b.loop.p.Approvals.Denied(j.call.Planned); why != "" {
		return failure("Denied by the policy, nothing ran: " + why)
	}
	j.typed = true
	if res := b.admit(ctx, j); res != nil {
		return *res
	}
	return b.run(ctx, j)
}
