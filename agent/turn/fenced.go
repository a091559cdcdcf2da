package turn

import (
	"context"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/tools"
)

// runHeld runs a call. In auto mode a call that the read-only sandbox stopped runs once more in the normal sandbox,
// because the first run has changed and sent nothing. The result is that of the second run.
func runHeld(ctx context.Context, b *batch, j *job) tools.Result {
	if j.trial != nil {
		return keep(b, j.trial, j.call.ID)
	}
	res := j.tool.Run(ctx, j.call)
	if !res.Stopped || !toFence(ctx, b, j, res.Took) {
		return res
	}
	defer j.marked()
	j.after = b.around(ctx, j) // now the call may write
	return j.tool.Run(ctx, j.call)
}

// toFence prepares a call that the read-only sandbox stopped for a run in the normal sandbox, and reports whether it
// may run. spent is the time of the first run. The policy and the hooks are asked again: the mode or a rule may have
// changed, and a hook may have allowed the call only because it was read-only.
func toFence(ctx context.Context, b *batch, j *job, spent time.Duration) bool {
	act, was := j.call.Planned, j.call
	free := j.call.Confined && len(act.Targets) == 0 && b.judge(act).Rule == policy.ReadOnly && approval.Fences(b.loop.p.Approvals, act, b.loop.agent.Most)
	v := action.Verdict{Decision: action.Allow, Reason: "auto mode: the read-only sandbox stopped it, so it runs again in the sandbox", Rule: policy.InFence}
	if ctx.Err() != nil || !free || !passes(ctx, b, j, v) {
		return false
	}
	j.live.flush()
	j.allow(v.Rule)
	j.call.Spent = spent
	j.rules = append(j.rules, event.DecisionRule{Rule: v.Rule, Text: string(v.Decision) + ": " + v.Reason})
	explain(b, j)
	if begin(b, j) != nil {
		j.call = was
		return false
	}
	count(b, j, false)
	return true
}

// passes reports whether the hooks allow a call with the new verdict v and leave it unchanged.
func passes(ctx context.Context, b *batch, j *job, v action.Verdict) bool {
	if !b.waitsForHooks(j) {
		return true
	}
	c := b.hookCall(j)
	c.Verdict = v
	m := b.loop.o.Programs.BeforeTools(ctx, b.loop.where(b.x, b.turn), c)[0]
	halts(b, m)
	if m.Context != j.guarded.answer.Context {
		b.addHookText(m.Context)
	}
	return ctx.Err() == nil && !m.Halt && (m.Decision == "" || m.Decision == action.Allow) && (m.Arguments == "" || m.Arguments == j.call.Arguments)
}
