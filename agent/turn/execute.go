package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/hooks"
	"buddy/agent/policy"
	"buddy/tools"
)

// admit checks whether a planned call may run and records its start. It returns nil, or the result with the reason
// for not running.
func (b *batch) admit(ctx context.Context, j *job) *tools.Result {
	if ctx.Err() != nil {
		return new(unanswered(ctx))
	}
	if refusal := again(ctx, b, j); refusal != nil {
		return refusal
	}
	if why := b.loop.p.Ledger.Refused(&b.x.used, counted(j.call)); why != "" && b.turn != 0 {
		return new(tools.Problem(why))
	}
	if j.err != nil {
		res := tools.Problem(j.err.Error())
		b.x.remember(j, res)
		return &res
	}
	if b.guard(ctx, j); j.err != nil {
		return new(tools.Problem(j.err.Error()))
	}
	if reply := b.loop.runHooks(ctx, b.x, PreToolExecution{Call: j.call}); reply.kind == skip {
		return new(failure("Tool call skipped: " + reply.reason))
	}
	if ctx.Err() != nil {
		return new(unanswered(ctx))
	}
	refusal := b.permit(ctx, j)
	count(b, j, refusal != nil)
	explain(b, j)
	if refusal != nil {
		return refusal
	}
	j.began = b.loop.o.Now() // the person's time to answer is not the tool's
	if err := begin(b, j); err != nil {
		discard(b, j.trial)
		return new(tools.Problem("nothing ran, because the session could not be saved: " + err.Error()))
	}
	j.ran = true
	return nil
}

// begin records that a call starts. After an error the call must not run.
func begin(b *batch, j *job) error {
	j.call.Dir = b.loop.outDir()
	started := event.ToolStarted{CallID: j.call.ID, Name: j.call.Name, Dir: j.call.Dir, Fenced: j.call.Fenced}
	if tool, ok := j.tool.(tools.PaneTool); ok && j.trial == nil {
		use := tool.Pane(j.call)
		started.Pane, started.Terminal = use.Pane.String(), use.Terminal
	}
	err := mark(b, j)
	if err == nil {
		err = b.loop.p.Stream.Record(b.x.task, b.turn, started)
	}
	if err != nil && j.marked != nil {
		j.marked()
	}
	return err
}

// mark marks the workspace before a call changes it without asking the person.
func mark(b *batch, j *job) (err error) {
	if j.call.Fenced || j.unasked {
		j.marked, err = approval.BeginUnseen(b.loop.p.Approvals, j.call.Planned, j.call.Fenced, b.loop.agent.Most)
	}
	return err
}

// outDir returns the output folder of the next call, "" when outputs are not kept. It skips existing folders, because
// a journal restored from a backup has fewer calls than there are folders.
func (l *Loop) outDir() string {
	if l.o.OutDir == "" {
		return ""
	}
	for {
		dir := filepath.Join(l.o.OutDir, fmt.Sprintf("%06d", l.n.outs.Add(1)))
		if _, err := os.Lstat(dir); err != nil {
			return dir
		}
	}
}

// permit returns nil when a call may run, otherwise the result with the reason. The person may have changed the
// arguments.
func (b *batch) permit(ctx context.Context, j *job) *tools.Result {
	refuse := func(text string) *tools.Result { return new(failure(text)) }
	if j.typed {
		return nil
	}
	v := b.judge(j.call.Planned)
	if j.reopened && v.Decision == action.Allow {
		v = action.Verdict{Decision: action.Ask, Reason: "it was waiting for approval when buddy ended", Rule: approval.Reopened}
	}
	m := j.guarded.answer
	if v = b.hooked(j.call.Planned, v, m); v.Decision == action.Ask {
		v, m = b.permission(ctx, j, v)
	}
	if ctx.Err() != nil {
		return new(unanswered(ctx))
	}
	j.rules = []event.DecisionRule{{Rule: v.Rule, Text: string(v.Decision) + ": " + v.Reason}}
	switch v.Decision {
	case action.Allow:
		j.unasked = true
		j.allow(v.Rule)
		return nil
	case action.Ask:
	default:
		return refuse(deniedBy(v, m))
	}
	return askPerson(ctx, b, j, v, m)
}

// askPerson does what permit does, for a call that a person has to approve. m is the answer of the hooks.
func askPerson(ctx context.Context, b *batch, j *job, v action.Verdict, m hooks.Answer) *tools.Result {
	refuse := func(text string) *tools.Result { return new(failure(text)) }
	act := j.call.Planned
	b.loop.notify(b.x, b.turn, "permission_prompt", "buddy needs approval for "+j.call.Name)
	j.waited = true
	fenced := approval.Fences(b.loop.p.Approvals, act, b.loop.agent.Most)
	request := b.asks(j, v, m)
	answer := b.loop.p.Approvals.Request(ctx, request)
	if answer.Decision == event.Try {
		answer = tryFirst(ctx, b, j, request)
	}
	j.rules = append(j.rules, answered(answer)...)
	j.unasked = answer.By != "user"
	switch {
	case answer.Decision == event.Keep:
		return nil
	case answer.Decision == event.Once, answer.Decision == event.Similar:
		j.allow(answer.Rule)
		j.call.Fenced = j.call.Fenced || fenced
		return nil
	case answer.Decision == event.Edit:
		if err := b.replaceArgs(j, answer.Args); err != nil {
			return refuse(tools.Problem("nothing ran: the user changed the arguments to " + answer.Args + ": " + err.Error()).Content)
		}
		j.call.Fenced = fenced && !j.call.Planned.Outside
		return nil
	case ctx.Err() != nil:
		return new(unanswered(ctx))
	}
	j.denied(ctx, j.call, answer)
	return refuse(refused(act, v, m, answer))
}

// allow sets how a call runs according to the rule that allowed it; "" is a person's approval.
func (j *job) allow(rule string) {
	j.call.Confined = rule == policy.ReadOnly
	j.call.Free = j.call.Confined || rule == policy.LiteralCore
	j.call.Fenced = rule == policy.InFence
}

// count adds a command to the session's counts. Commands that a person typed do not count.
func count(b *batch, j *job, refused bool) {
	if !j.call.Planned.Kind.IsCommand() || j.typed {
		return
	}
	var t approval.Tally
	switch {
	case refused:
		t.Denied = 1
	case j.call.Fenced:
		t.Inside = 1
	}
	if j.waited {
		t.Asked = 1
	}
	approval.Count(b.loop.p.Approvals, t)
}

// judge returns the policy's verdict. After a prompt injection it is stricter: only actions that read files, and
// internal actions that change nothing, run without asking.
func (b *batch) judge(act action.Action) action.Verdict {
	v := b.loop.p.Approvals.Judge(act, b.loop.agent.Most)
	if v.Decision != action.Allow || act.Kind == action.FileRead || act.Kind == action.Internal && !act.Mutation {
		return v
	}
	if why := b.loop.injected(b.x); why != "" {
		return action.Verdict{Decision: action.Ask, Reason: why, Rule: approval.Injected}
	}
	return v
}

// replaceArgs gives a call the arguments that a person wrote. Writing them approves them, except for what the policy
// denies in every mode.
func (b *batch) replaceArgs(j *job, args string) error {
	call := j.call
	call.Arguments = b.loop.p.Stream.Keys().Restore(args, j.call.Arguments)
	act, err := tools.PlanSafely(j.tool, call)
	if err != nil {
		return err
	}
	if v := b.loop.p.Approvals.Judge(act, b.loop.agent.Most); v.Decision == action.Deny {
		return errors.New("denied by the policy: " + v.Reason)
	}
	call.Planned = act
	j.call, j.edited = call, true
	b.publish(event.ToolRequested{CallID: call.ID, Name: call.Name, Corrected: call.Corrected, Renamed: call.Renamed, Arguments: call.Arguments, Action: act, Target: act.Target})
	return nil
}

// denial returns the result for the model when a person denied a call, or nobody could approve it.
func denial(act action.Action, a event.ApprovalAnswered) string {
	switch a.By {
	case "policy":
		return "Denied by the policy, nothing ran: " + a.Reason
	case approval.Nobody:
		return "Not run: it needs the user's approval, and nobody was there to ask."
	}
	text := "The user denied this; nothing ran."
	if act.Kind.IsCommand() {
		text = "Command execution denied by user."
	}
	if a.Reason != "" {
		text += " Reason: " + a.Reason
	}
	return text
}

var errTimeout = errors.New("timeout")

// run runs an admitted call. Commands and questions to the person have no time limit; all other tools have one.
func (b *batch) run(ctx context.Context, j *job) tools.Result {
	call, whole := j.call, ctx
	if !call.Planned.Kind.IsCommand() && !tools.IsPatient(j.tool, call) {
		limited, cancel := context.WithTimeoutCause(ctx, b.loop.o.Calls.Timeout, errTimeout)
		defer cancel()
		ctx = limited
	}
	if call.Planned.Kind.IsCommand() {
		defer b.remind()()
	}
	if j.marked != nil {
		defer j.marked()
	}
	defer j.hosts.end()
	j.after = b.around(whole, j)
	res := b.loop.runTool(ctx, call, func(ctx context.Context) tools.Result { return runHeld(ctx, b, j) })
	switch cause := context.Cause(ctx); {
	case res.IsError && errors.Is(cause, errTimeout):
		res = tools.Problem(fmt.Sprintf("%s was stopped after %s", call.Name, b.loop.o.Calls.Timeout))
	case res.IsError && errors.Is(cause, errSibling):
		res = unanswered(ctx)
	case res.IsError && errors.Is(cause, ErrTimedOut):
		res.Content = timedOut + strings.TrimPrefix("\n"+res.Content, "\n"+history.Unanswered)
	}
	if whole.Err() == nil {
		b.x.remember(j, res)
		if b.loop.o.Strict && res.IsError && !res.Retry {
			b.x.stop(&ToolError{call.Name, res.Content})
		}
	}
	j.after(&res)
	b.loop.runHooks(whole, b.x, PostToolExecution{Call: j.call, Result: res})
	return res
}

// around calls the parts before a call runs. The returned function gives them the result.
func (b *batch) around(ctx context.Context, j *job) (after func(*tools.Result)) {
	var all []func(context.Context, *Ran)
	for _, p := range b.loop.o.Parts {
		if f := p.Around(ctx, Access{b.loop, b.x, b.turn}, &j.call); f != nil {
			all = append(all, f)
		}
	}
	return func(res *tools.Result) {
		ran := Ran{Result: res, Changed: j.changed}
		if j.trial != nil {
			ran.Tried = j.trial.Began()
		}
		for _, f := range all {
			f(ctx, &ran)
		}
	}
}

// finish stores a result in the stream and in the history.
func (b *batch) finish(j *job, res tools.Result) {
	c, duration := j.call, b.loop.o.Now().Sub(j.began)
	if res.Took > 0 {
		duration = res.Took
	}
	j.live.flush()
	if res.IsError {
		b.loop.p.Changes.Failed(b.whole, b.x.task, b.turn, j.call)
	}
	// All output of tools passes here, so secrets are removed here only.
	for _, text := range []*string{&res.Content, &res.Aside, &res.Tail, &res.Outcome, res.Stdout} {
		if text != nil {
			*text = b.loop.o.Redact.Text(*text)
		}
	}
	original := b.after(j, &res)
	b.x.noteSetback(j, res)
	hint := hintAfter(b, j, res)
	b.spill(j, &res)
	g := given{job: j, whole: res.Content, full: res.Full}
	b.inspect(j, &res)
	j.annotate(&res, hint)
	e := eventOf(c, res)
	e.DurationMS, e.Original = duration.Milliseconds(), original
	j.result = e
	if !res.IsError {
		conversation.Worked(b.x.conv, c.Planned)
	}
	b.x.conv.StoreResult(b.x.task, b.turn, c.Arguments, e)
	if list, ok := event.TodoOf(e); ok {
		b.publish(list)
	}
	b.loop.p.Ledger.Result(&b.x.used, counted(c), res.Content, j.ran)
	g.sent = len(res.Content)
	b.x.mu.Lock()
	defer b.x.mu.Unlock()
	b.x.results.given = append(b.x.results.given, g)
	b.x.results.images = append(b.x.results.images, res.Images...)
	here := c.Planned.Target == "" || c.Planned.Target == b.loop.o.Target // the target of the instruction files
	if k := c.Planned.Kind; here && !res.IsError && c.Planned.Path != "" && (k == action.FileRead || k == action.FileWrite) {
		b.x.results.touched = append(b.x.results.touched, c.Planned.Path)
	}
}

// annotate adds notes for the model to a result: what changed in the call, refused hosts and the hint.
func (j *job) annotate(res *tools.Result, hint string) {
	c := j.call
	if len(c.Notes) > 0 {
		res.Tell("[" + strings.Join(c.Notes, "; ") + "]")
	}
	if hint != "" {
		res.Tell("[hint: " + hint + "]")
	}
	for _, note := range j.hosts.refused() {
		res.Tell("[" + note + "]")
	}
	if j.guarded.changed != "" {
		res.Tell("[a hook changed the call before it ran; " + j.guarded.changed + "]")
	}
	if j.edited {
		res.Tell("[the user changed the call before it ran, to: " + cmp.Or(c.Planned.Command, c.Arguments) + "]")
	}
}

// eventOf converts a result to its event.
func eventOf(c tools.Call, res tools.Result) event.ToolResult {
	e := event.ToolResult{
		CallID: c.ID, Name: c.Name, Seen: res.Seen, Result: res.Content, Aside: res.Aside, Outcome: res.Outcome,
		IsError: res.IsError, ExitCode: res.ExitCode, Exits: res.Exits, Tail: res.Tail, Stdout: res.Stdout, FullOutput: res.Full,
	}
	if why := tools.Why(res); res.IsError && why != e.Text() {
		e.Shown = why
	}
	return e
}

// counted returns the tool name that a call is counted under.
func counted(c tools.Call) string {
	return event.ToolRequested{Name: c.Name, Action: c.Planned}.Counted()
}

// longCommand is the running time of a command after which the person is reminded how to end it.
const longCommand = 60 * time.Second

// remind shows the person one notice when a command runs for a long time. The returned function stops the timer.
func (b *batch) remind() (stop func()) {
	timer := time.AfterFunc(longCommand, func() {
		b.loop.p.Stream.Publish(b.x.task, 0, event.Notice{
			Text: fmt.Sprintf("This command has been running for %.0f min without a time limit. /timeout 5m sets one · /bg moves it to the background · /kill stops it", longCommand.Minutes()),
			Code: event.LongCommand,
		})
	})
	return func() { timer.Stop() }
}

func failure(text string) tools.Result { return tools.Result{Content: text, IsError: true} }
