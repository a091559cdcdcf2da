package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/stream"
	"buddy/tools"
)

// Steps runs calls that are in no answer of a model, such as the steps of a workflow. Each call is planned, judged,
// approved, recorded and shown as any other; only the history for the model leaves them out. It is safe for
// concurrent use; use NewSteps.
type Steps struct{ Access }

// NewSteps returns a Steps for an exchange.
func NewSteps(l *Loop, x *Exchange) *Steps { return &Steps{Access{l: l, x: x}} }

// StepCall describes one call.
type StepCall struct {
	ID        string        // unique in the session
	Name      string        // of the tool
	Arguments string        // JSON
	Timeout   time.Duration // for the tool, without the time for approval; 0 is the limit of all calls
	OwnPane   string        // title of a separate pane for a command; "" is the shared pane
	Approved  bool          // a person asked for it: it runs unless the policy denies it in every mode
}

// StepEnd holds the outcome of a call.
type StepEnd struct {
	event.ToolResult
	Ran     bool // it was approved and started
	Fenced  bool // it ran in the sandbox
	Denied  bool // the policy, a person or a hook denied it
	Late    bool // it was stopped by its timeout
	Unknown bool // it started in an earlier process, and its outcome is unknown
}

// errStepTimeout is the cause when a step exceeds its time limit.
var errStepTimeout = errors.New("the step reached its time limit")

const (
	checkID = "check_"
	typedID = "user_" // of a command that a person typed
)

// isOwn reports whether a call outside of answers was made by a person or as a check.
func isOwn(id string) bool { return strings.HasPrefix(id, checkID) || strings.HasPrefix(id, typedID) }

// Check returns a call that tests whether work is done; it needs no approval. In auto mode a command runs in the
// sandbox, because it executes files that sandboxed commands may have changed, unless it is configured to run outside.
// A subagent that checks may only read.
func Check(tool string, args map[string]any) StepCall {
	text, _ := json.Marshal(args) // strings and booleans always encode
	return StepCall{ID: checkID + stream.NewID(), Name: tool, Arguments: string(text), Approved: true}
}

// Denied returns why a call may not be made: the tool does not exist, or the policy denies the call in every mode.
// nil means that it may.
func (l *Loop) Denied(c StepCall) error {
	tool, resolved, err := l.p.Selection.Tools().Resolve(tools.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Reader: 0})
	if err != nil {
		return err
	}
	act, err := tools.PlanSafely(tool, resolved)
	if err != nil {
		return err
	}
	if why := l.p.Approvals.Denied(act); why != "" {
		return fmt.Errorf("denied by the policy: %s", why)
	}
	return nil
}

// Run runs a call to its end, or until ctx ends.
func (s *Steps) Run(ctx context.Context, c StepCall) StepEnd {
	isCheck := strings.HasPrefix(c.ID, checkID)
	if isCheck {
		reads := *s.l
		reads.agent.Most = action.ModePlan // limits agents; a typed command is already approved
		s = NewSteps(&reads, s.x)
	}
	b, j := s.plan(ctx, c)
	defer b.cancel(nil)
	b.request(j)
	j.typed = c.Approved
	res := s.barred(j)
	if res == nil {
		res = b.admit(ctx, j)
	}
	if isCheck && approval.Fences(s.l.p.Approvals, j.call.Planned, action.ModeAll) {
		j.call.Fenced = true
	}
	late := false
	if res == nil {
		var result tools.Result
		result, late = s.runFor(ctx, b, j, c.Timeout)
		res = &result
	}
	end := s.finish(b, j, *res)
	end.Late, end.Fenced = late, j.call.Fenced
	return end
}

// barred returns the result of an approved call that the policy denies in every mode, nil for any other call.
func (s *Steps) barred(j *job) *tools.Result {
	if !j.typed || j.err != nil {
		return nil
	}
	if why := s.l.p.Approvals.Denied(j.call.Planned); why != "" {
		res := failure("Denied by the policy, nothing ran: " + why)
		return &res
	}
	return nil
}

// Recover returns the result of a call that an earlier process started with its output in dir. It waits if the call
// still runs.
func (s *Steps) Recover(ctx context.Context, c StepCall, dir string) StepEnd {
	b, j := s.plan(ctx, c)
	defer b.cancel(nil)
	j.ran = true
	return s.finish(b, j, recovered(ctx, j, dir))
}

// Harmless reports whether a call with an unknown outcome may be repeated, because it changes nothing.
func (s *Steps) Harmless(ctx context.Context, c StepCall) bool {
	b, j := s.plan(ctx, c)
	defer b.cancel(nil)
	if j.err != nil {
		return true // it can't run
	}
	act := j.call.Planned
	return tools.IsParallel(j.tool, j.call) || act.Kind == action.Internal && !act.Mutation && j.call.Name != tools.Agent
}

// plan plans a call in a batch of its own.
func (s *Steps) plan(ctx context.Context, c StepCall) (*batch, *job) {
	b := s.l.newBatch(ctx, s.x, 0)
	j := b.plan(s.meant(c))
	if c.OwnPane != "" {
		j.call.OwnPane = c.OwnPane
	}
	s.x.mu.Lock()
	defer s.x.mu.Unlock()
	delete(s.x.failed, j.key()) // repeating a step is intended
	return b, j
}

// meant returns the call that reaches a tool: tools that are not offered by name are called through use_tool.
func (s *Steps) meant(c StepCall) model.ToolCall {
	call := model.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments}
	if s.Has(c.Name) || !s.Has(throughTool) {
		return call
	}
	args, err := json.Marshal(map[string]any{"name": c.Name, "args": json.RawMessage(c.Arguments)})
	if err != nil {
		return call // the tool reports what is wrong with the arguments
	}
	call.Name, call.Arguments = throughTool, string(args)
	return call
}

// throughTool is the tool that calls tools that are not offered by name.
const throughTool = "use_tool"

// runFor runs an admitted call with a time limit.
func (s *Steps) runFor(ctx context.Context, b *batch, j *job, limit time.Duration) (res tools.Result, late bool) {
	if limit <= 0 {
		return b.run(ctx, j), false
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, errStepTimeout)
	defer cancel()
	res = b.run(limited, j)
	late = res.IsError && errors.Is(context.Cause(limited), errStepTimeout)
	if late {
		res.Content = fmt.Sprintf("%s\n%s", tools.Problem(fmt.Sprintf("stopped after %v, its time limit", limit)).Content, res.Content)
	}
	return res, late
}

// finish stores the result. Nothing is kept for a model.
func (s *Steps) finish(b *batch, j *job, res tools.Result) StepEnd {
	b.finish(j, res)
	s.x.mu.Lock()
	s.x.results = results{}
	s.x.mu.Unlock()
	return StepEnd{ToolResult: j.result, Ran: j.ran, Denied: !j.ran && j.err == nil, Unknown: strings.HasPrefix(j.result.Result, OutcomeUnknown)}
}
