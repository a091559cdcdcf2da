package turn

import (
	"cmp"
	"context"
	"errors"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/agent/hooks"
	"buddy/agent/policy"
	"buddy/tools"
)

// guarded holds the hooks' answer about a call.
type guarded struct {
	asked   bool
	answer  hooks.Answer
	changed string // the hook that changed the arguments, and the difference; "": unchanged
}

// hookCall converts a call to the form that hooks get.
func (b *batch) hookCall(j *job) hooks.Call {
	return hooks.Call{ID: j.call.ID, Tool: j.call.Name, Arguments: j.call.Arguments, Action: j.call.Planned, Verdict: b.judge(j.call.Planned)}
}

// waitsForHooks reports whether a call must wait for a hook before it starts.
func (b *batch) waitsForHooks(j *job) bool {
	programs := b.loop.o.Programs
	return programs.Has(hooks.PreToolUse) && programs.Guards(hooks.Call{Tool: j.call.Name, Arguments: j.call.Arguments})
}

// guard asks the hooks about calls, once per call and all at the same time. A call that a hook changed is planned
// again, and a call that a hook decided about does not overlap with others.
func (b *batch) guard(ctx context.Context, all ...*job) {
	var jobs []*job
	var calls []hooks.Call
	for _, j := range all {
		if !j.guarded.asked && !j.typed && j.err == nil && b.waitsForHooks(j) {
			j.guarded.asked = true
			jobs, calls = append(jobs, j), append(calls, b.hookCall(j))
		}
	}
	if len(jobs) == 0 {
		return
	}
	for i, m := range b.loop.o.Programs.BeforeTools(ctx, b.loop.where(b.x, b.turn), calls...) {
		halts(b, m)
		b.apply(jobs[i], m)
	}
}

// halts ends the exchange if a hook requested it.
func halts(b *batch, m hooks.Answer) {
	if m.Halt {
		b.x.stop(&HookTerminated{m.HaltedBy + ": " + cmp.Or(m.Why, "it gave no reason")})
	}
}

// apply applies the hooks' answer to a call before it runs.
func (b *batch) apply(j *job, m hooks.Answer) {
	j.guarded.answer = m
	b.addHookText(m.Context)
	if m.Arguments != "" {
		b.change(j, m.Arguments, m.ChangedBy)
	}
	j.parallel = j.parallel && m.Decision == "" && j.err == nil && b.overlaps(j)
}

// overlaps reports whether a call may run in parallel with others.
func (b *batch) overlaps(j *job) bool {
	return (tools.IsParallel(j.tool, j.call) || tools.IsBeside(j.tool, j.call)) && b.judge(j.call.Planned).Decision == action.Allow
}

// addHookText keeps a hook's text for the model until the end of the turn.
func (b *batch) addHookText(text string) {
	if text == "" {
		return
	}
	b.x.mu.Lock()
	defer b.x.mu.Unlock()
	b.x.results.hookTexts = append(b.x.results.hookTexts, text)
}

// change gives a call the arguments from a hook and plans it again.
func (b *batch) change(j *job, args, by string) {
	call := j.call
	call.Arguments = args
	act, err := tools.PlanSafely(j.tool, call)
	if err != nil {
		j.err = errors.New("nothing ran: the hook " + by + " changed the arguments to " + args + ": " + err.Error())
		return
	}
	call.Planned = act
	was := cmp.Or(j.call.Planned.Command, j.call.Arguments)
	j.guarded.changed = "changed by " + by + ": " + was + " → " + cmp.Or(act.Command, args)
	j.call = call
	b.request(j)
}

// hooked returns the verdict on a call after the hooks' answer. Any hook can make the verdict stricter; a hook of the
// person may also approve in place of the person.
func (b *batch) hooked(act action.Action, v action.Verdict, m hooks.Answer) action.Verdict {
	rule := "hook " + m.By
	switch m.Decision {
	case action.Deny:
		if v.Decision != action.Deny {
			return action.Verdict{Decision: action.Deny, Reason: "the hook " + m.By + " says: " + cmp.Or(m.Reason, "no reason given"), Rule: rule}
		}
	case action.Ask:
		reason := "the hook " + m.By + " asks: " + cmp.Or(m.Reason, "no reason given")
		if m.Failed {
			reason = "hook " + m.By + ": " + m.Reason
		}
		switch v.Decision {
		case action.Allow:
			return action.Verdict{Decision: action.Ask, Reason: reason, Rule: rule}
		case action.Ask:
			v.Reason += "; " + reason
		}
	case action.Allow:
		if v.Decision == action.Ask && b.loop.p.Approvals.Grantable(act, b.loop.agent.Most) && b.loop.injected(b.x) == "" {
			return action.Verdict{Decision: action.Allow, Reason: "the hook " + m.By + " allows it: " + m.Reason, Rule: rule}
		}
	}
	return v
}

// hookOf returns the hook that makes a call need approval, nil if the policy requires the approval.
func (b *batch) hookOf(v action.Verdict, m hooks.Answer) *approval.Hook {
	if m.By == "" || v.Rule != "hook "+m.By {
		return nil
	}
	h := &approval.Hook{}
	if m.Failed {
		h.Offer = "ignore failures of the hook " + m.By + " this session"
		h.Pass = func() { b.loop.o.Programs.Pass(m.By) }
	}
	return h
}

// permission asks the hooks in place of the person, and returns the new verdict.
func (b *batch) permission(ctx context.Context, j *job, v action.Verdict) (action.Verdict, hooks.Answer) {
	if !b.loop.o.Programs.Has(hooks.PermissionRequest) {
		return v, j.guarded.answer
	}
	m := b.loop.o.Programs.Permission(ctx, b.loop.where(b.x, b.turn), b.hookCall(j))
	if m.Arguments != "" {
		if b.change(j, m.Arguments, m.ChangedBy); j.err != nil {
			return action.Verdict{Decision: action.Deny, Reason: j.err.Error(), Rule: "hook " + m.ChangedBy}, m
		}
		v = b.hooked(j.call.Planned, b.judge(j.call.Planned), j.guarded.answer)
	}
	after := b.hooked(j.call.Planned, v, m)
	if m.By == "" || after.Rule != "hook "+m.By {
		m = j.guarded.answer
	}
	return after, m
}

// after runs the hooks on the result of a call that ran, and applies their answer. It returns the original result if
// a hook replaced it.
func (b *batch) after(j *job, res *tools.Result) (original string) {
	programs := b.loop.o.Programs
	if !j.ran || j.typed || !programs.Has(hooks.PostToolUse) && !programs.Has(hooks.PostToolUseFailure) {
		return ""
	}
	m := programs.AfterTool(b.whole, b.loop.where(b.x, b.turn), b.hookCall(j), hooks.Response{Text: res.Content, Failed: res.IsError, ExitCode: res.ExitCode})
	b.addHookText(m.Told())
	if m.Output != nil {
		original = res.Content
		res.Change(b.loop.o.Redact.Text(*m.Output))
	}
	halts(b, m)
	return original
}

// asks returns the approval request for a call.
func (b *batch) asks(j *job, v action.Verdict, m hooks.Answer) approval.Request {
	asked := approval.Request{
		Task: b.x.task, Turn: b.turn, CallID: j.call.ID, Action: j.call.Planned, Verdict: v, Failed: b.x.setback(j.call.Name),
		Changed: j.guarded.changed, Hook: b.hookOf(v, m), Agent: b.loop.agent.Label, Most: b.loop.agent.Most, Memory: j.known(j.call.Planned),
	}
	if m.Decision == action.Ask {
		asked.AskedBy = m.By
	}
	return asked
}

// deniedBy returns the result for the model when a verdict denies a call.
func deniedBy(v action.Verdict, m hooks.Answer) string {
	if m.By != "" && v.Rule == "hook "+m.By {
		return "Denied by a hook, nothing ran: " + v.Reason
	}
	return "Denied by the policy, nothing ran: " + v.Reason
}

// refused returns the result for the model when a person denied a call, or nobody could approve it.
func refused(act action.Action, v action.Verdict, m hooks.Answer, a event.ApprovalAnswered) string {
	text := denial(act, a)
	if a.By == approval.Nobody && (m.By != "" && v.Rule == "hook "+m.By || v.Rule == policy.OutsideFence || v.Rule == policy.ChangedUnseen) {
		text += " " + v.Reason
	}
	return text
}
