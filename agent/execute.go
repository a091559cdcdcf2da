package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/tools"
)

// admit journals that a planned call starts, when it may. Else it returns the result
// that says why not.
func (r *Runtime) admit(ctx context.Context, t *task, turn int, j *job) *tools.Result {
	if ctx.Err() != nil {
		res := unanswered(ctx)
		return &res
	}
	if refusal := r.repeated(t, j); refusal != nil {
		return refusal
	}
	if j.err != nil {
		res := failure("Tool error: " + j.err.Error())
		r.remember(t, j, res)
		return &res
	}
	if reply := r.tell(ctx, t, PreToolExecution{Call: j.call}); reply.kind == skip {
		res := failure("Tool call skipped: " + reply.reason)
		return &res
	}
	if ctx.Err() != nil {
		res := unanswered(ctx)
		return &res
	}
	if refusal := r.permit(ctx, t.id, turn, j.call.ID, j.call.Planned); refusal != nil {
		return refusal
	}
	j.began = r.opts.Now() // the time a person thinks is not the tool's
	if r.opts.OutDir != "" {
		r.mu.Lock()
		r.ids.out++
		j.call.Dir = filepath.Join(r.opts.OutDir, fmt.Sprintf("%06d", r.ids.out))
		r.mu.Unlock()
	}
	if err := r.stream.emit(t.id, turn, event.ToolStarted{CallID: j.call.ID, Name: j.call.Name, Dir: j.call.Dir}); err != nil {
		res := failure("Tool error: nothing ran, because it could not be recorded: " + err.Error())
		return &res
	}
	j.ran = true
	return nil
}

// planned is tool.Plan, in which a panic is an error (D32).
func planned(tool tools.Tool, call tools.Call) (act action.Action, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s failed inside: %v", call.Name, p)
		}
	}()
	return tool.Plan(call)
}

// maxFailures is how often a call may fail in the same way in one exchange (A32).
const maxFailures = 2

// failed is how the same call failed last, and how often in a row.
type failed struct {
	text  string
	times int
}

// remember counts the failures of a call.
func (r *Runtime) remember(t *task, j *job, res tools.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := t.failed[j.key()]
	switch {
	case !res.IsError:
		delete(t.failed, j.key())
		return
	case res.Content != f.text:
		f = failed{text: res.Content}
	}
	f.times++
	t.failed[j.key()] = f
}

// repeated returns the result of a call that would only fail once more, else nil.
func (r *Runtime) repeated(t *task, j *job) *tools.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := t.failed[j.key()]
	if f.times < maxFailures {
		return nil
	}
	res := failure(fmt.Sprintf("Tool error: not run: the same call failed %d times in the same way. Change the arguments, or do something else. It said: %s", f.times, f.text))
	return &res
}

// permit returns nil when act may happen, else the result that says why not.
func (r *Runtime) permit(ctx context.Context, task, turn int, callID string, act action.Action) *tools.Result {
	v := r.asks.judge(act)
	switch v.Decision {
	case action.Allow:
		return nil
	case action.Ask:
		answer := r.asks.request(ctx, task, turn, callID, act, v)
		if answer.Decision == event.Once {
			return nil
		}
		res := failure(denial(act, answer))
		if ctx.Err() != nil {
			res = unanswered(ctx)
		}
		return &res
	default:
		res := failure("Denied by the policy, nothing ran: " + v.Reason)
		return &res
	}
}

// denial is what the model reads when a person said no (D12).
func denial(act action.Action, a event.ApprovalAnswered) string {
	text := "The user denied this; nothing ran."
	if act.Kind == action.Shell {
		text = "Command execution denied by user."
	}
	if a.Reason != "" {
		text += " Reason: " + a.Reason
	}
	return text
}

// defaultTimeout is how long a tool may run (D25).
const defaultTimeout = 60 * time.Second

var errTimeout = errors.New("timeout")

// run runs a call that was admitted. A command runs as long as the person lets it
// (DECISIONS 19), any other tool up to the limit.
func (r *Runtime) run(ctx context.Context, t *task, j *job) tools.Result {
	call, whole := j.call, ctx
	if call.Planned.Kind != action.Shell {
		limited, cancel := context.WithTimeoutCause(ctx, r.opts.ToolTimeout, errTimeout)
		defer cancel()
		ctx = limited
	}
	if call.Planned.Kind == action.Shell {
		defer r.remind(t, call.Name)()
	}
	res := r.runTool(ctx, j.tool, call)
	switch cause := context.Cause(ctx); {
	case res.IsError && errors.Is(cause, errTimeout):
		res = failure(fmt.Sprintf("Tool error: %s was stopped, because it took longer than %s", call.Name, r.opts.ToolTimeout))
	case res.IsError && errors.Is(cause, errSibling):
		res = unanswered(ctx)
	}
	if whole.Err() == nil {
		r.remember(t, j, res)
		if r.opts.Strict && res.IsError && !res.Retry {
			t.cancel(&ToolError{call.Name, res.Content})
		}
	}
	r.tell(whole, t, PostToolExecution{Call: call, Result: res})
	return res
}

// guarded turns a panic into a result (D32).
func guarded(name string, run func() tools.Result) (res tools.Result) {
	defer func() {
		if p := recover(); p != nil {
			res = failure(fmt.Sprintf("Tool error: %s failed inside: %v", name, p))
		}
	}()
	return run()
}

// finish stores a result in the stream and in the history.
func (r *Runtime) finish(t *task, turn int, j *job, res tools.Result) {
	c, took := j.call, r.opts.Now().Sub(j.began)
	if res.Took > 0 {
		took = res.Took
	}
	j.live.flush()
	// The one place where what tools said enters (DECISIONS 9).
	res.Content, res.Tail = r.opts.Redact.Text(res.Content), r.opts.Redact.Text(res.Tail)
	r.spill(t, turn, j, &res)
	r.inspect(t, turn, j, &res)
	e := event.ToolResult{
		CallID: c.ID, Name: c.Name, Result: res.Content, IsError: res.IsError,
		ExitCode: res.ExitCode, DurationMS: took.Milliseconds(), Tail: res.Tail,
	}
	if res.Full != nil {
		e.FullOutput = &event.FullOutput{Path: res.Full.Path, Bytes: res.Full.Bytes}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.talk.hist.Result(c.ID, c.Name, res.Content)
	t.use.result(c.Name, res.Content)
	r.emit(t.id, turn, e)
}

func failure(text string) tools.Result { return tools.Result{Content: text, IsError: true} }
