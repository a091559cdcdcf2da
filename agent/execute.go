package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/agent/policy"
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
	if refusal := r.permit(ctx, t, turn, j); refusal != nil {
		return refusal
	}
	j.began = r.opts.Now() // the time a person thinks is not the tool's
	if r.opts.OutDir != "" {
		r.mu.Lock()
		r.ids.out++
		j.call.Dir = filepath.Join(r.opts.OutDir, fmt.Sprintf("%06d", r.ids.out))
		r.mu.Unlock()
	}
	started := event.ToolStarted{CallID: j.call.ID, Name: j.call.Name, Dir: j.call.Dir}
	if tool, ok := j.tool.(tools.PaneTool); ok {
		use := tool.Pane(j.call)
		started.Pane, started.Terminal = use.Pane.String(), use.Terminal
	}
	if err := r.stream.Record(t.id, turn, started); err != nil {
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

// permit returns nil when a call may run, else the result that says why not. A person may
// have changed what will run.
func (r *Runtime) permit(ctx context.Context, t *task, turn int, j *job) *tools.Result {
	refuse := func(text string) *tools.Result {
		res := failure(text)
		return &res
	}
	if j.typed {
		return nil
	}
	act := j.call.Planned
	v := r.judge(t, act)
	if j.reopened && v.Decision == action.Allow {
		v = action.Verdict{Decision: action.Ask, Reason: "it was waiting for approval when buddy ended", Rule: approval.Reopened}
	}
	switch v.Decision {
	case action.Allow:
		j.call.Confined = v.Rule == policy.ReadOnly
		j.call.Free = j.call.Confined || v.Rule == policy.LiteralCore
		return nil
	case action.Ask:
	default:
		return refuse("Denied by the policy, nothing ran: " + v.Reason)
	}
	answer := r.approvals.Request(ctx, approval.Request{Task: t.id, Turn: turn, CallID: j.call.ID, Action: act, Verdict: v})
	switch {
	case answer.Decision == event.Once, answer.Decision == event.Similar:
		return nil
	case answer.Decision == event.Edit:
		if err := r.replaceArgs(t, turn, j, answer.Args); err != nil {
			return refuse("Tool error: nothing ran: the user changed the arguments to " + answer.Args + ": " + err.Error())
		}
		return nil
	case ctx.Err() != nil:
		res := unanswered(ctx)
		return &res
	}
	return refuse(denial(act, answer))
}

// judge is the policy's verdict, stricter when a tool's output has spoken to the model:
// then only files of the workspace are read without a question (F12).
func (r *Runtime) judge(t *task, act action.Action) action.Verdict {
	v := r.approvals.Judge(act)
	if v.Decision != action.Allow || act.Kind == action.FileRead || act.Kind == action.Internal && !act.Mutation {
		return v
	}
	if why := r.tainted(t); why != "" {
		return action.Verdict{Decision: action.Ask, Reason: why, Rule: approval.Injected}
	}
	return v
}

// replaceArgs gives a call the arguments that a person wrote. What they do was approved by
// writing them; only what is denied to everybody still is.
func (r *Runtime) replaceArgs(t *task, turn int, j *job, args string) error {
	call := j.call
	call.Arguments = args
	act, err := planned(j.tool, call)
	if err != nil {
		return err
	}
	if v := r.approvals.Judge(act); v.Decision == action.Deny {
		return errors.New("denied by the policy: " + v.Reason)
	}
	call.Planned = act
	j.call, j.edited = call, true
	r.emit(t.id, turn, event.ToolRequested{CallID: call.ID, Name: call.Name, Arguments: args, Action: act, Target: act.Target})
	return nil
}

// denial returns what the model reads when a person denied a call, or nobody could approve it.
func denial(act action.Action, a event.ApprovalAnswered) string {
	switch a.By {
	case "policy":
		return "Denied by the policy, nothing ran: " + a.Reason
	case approval.Nobody:
		return "Not run: it needs the user's yes, and nobody was there to ask."
	}
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
// (DECISIONS 19), and so does a question to the person; any other tool up to the limit.
func (r *Runtime) run(ctx context.Context, t *task, j *job) tools.Result {
	call, whole := j.call, ctx
	waits, ok := j.tool.(tools.Patient)
	if call.Planned.Kind != action.Shell && (!ok || !waits.Patient(call)) {
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
	g := given{job: j, whole: res.Content, full: res.Full}
	r.inspect(t, turn, j, &res)
	if len(c.Notes) > 0 {
		res.Content += "\n[" + strings.Join(c.Notes, "; ") + "]"
	}
	if j.edited {
		res.Content += "\n[the user changed the call before it ran, to: " + cmp.Or(c.Planned.Command, c.Arguments) + "]"
	}
	j.result = res.Content
	e := event.ToolResult{
		CallID: c.ID, Name: c.Name, Result: res.Content, IsError: res.IsError,
		ExitCode: res.ExitCode, DurationMS: took.Milliseconds(), Tail: res.Tail,
	}
	if res.Full != nil {
		e.FullOutput = &event.FullOutput{Path: res.Full.Path, Bytes: res.Full.Bytes}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.talk.hist.Meant(c.ID, c.Name, c.Arguments)
	t.talk.hist.Result(c.ID, c.Name, res.Content)
	r.ledger.Result(&t.use, c.Name, res.Content)
	g.sent = len(res.Content)
	t.given = append(t.given, g)
	t.shown = append(t.shown, res.Images...)
	here := c.Planned.Target == "" || c.Planned.Target == r.opts.Target // where the instruction files are read
	if k := c.Planned.Kind; here && !res.IsError && c.Planned.Path != "" && (k == action.FileRead || k == action.FileWrite) {
		t.touched = append(t.touched, c.Planned.Path)
	}
	r.emit(t.id, turn, e)
}

func failure(text string) tools.Result { return tools.Result{Content: text, IsError: true} }
