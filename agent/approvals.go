package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/agent/stream"
)

// approvals is the broker between calls that need a yes and the person who gives it.
// Each request is settled once and the first answer wins; who has no owner any more is
// denied (F07).
type approvals struct {
	stream *stream.Stream
	now    func() time.Time

	mu     sync.Mutex // guards all below
	policy policy.Policy
	mode   action.Mode
	until  time.Time // when mode ends; zero = never
	open   map[string]*ask
	closed bool
	heard  bool // somebody's answers arrive
}

// ask is one open request.
type ask struct {
	task   int
	callID string
	act    action.Action
	raised bool                        // asked about though the policy alone may not: only a person answers it
	answer chan event.ApprovalAnswered // buffered: 1
}

func newApprovals(s *stream.Stream, p policy.Policy, m action.Mode, now func() time.Time) *approvals {
	return &approvals{stream: s, policy: p, mode: m, now: now, open: make(map[string]*ask)}
}

// judge applies the policy under the current mode.
func (a *approvals) judge(act action.Action) action.Verdict {
	a.mu.Lock()
	expired := !a.until.IsZero() && !a.now().Before(a.until)
	if expired {
		a.mode, a.until = action.ModeAsk, time.Time{}
	}
	p, mode := a.policy, a.mode
	a.mu.Unlock()
	if expired {
		a.stream.Publish(0, 0, event.ModeChanged{Mode: action.ModeAsk})
	}
	return p.Judge(act, mode)
}

// context is what a person should know of an action.
func (a *approvals) context(act action.Action) action.ApprovalContext {
	a.mu.Lock()
	p, mode := a.policy, a.mode
	a.mu.Unlock()
	return p.Context(act, mode)
}

// free says which commands nobody is asked about on a target.
func (a *approvals) free(target string) string {
	a.mu.Lock()
	p := a.policy
	a.mu.Unlock()
	return p.Free(target)
}

// current returns the mode and when it ends; zero is never.
func (a *approvals) current() (action.Mode, time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.until.IsZero() && !a.now().Before(a.until) {
		return action.ModeAsk, time.Time{}
	}
	return a.mode, a.until
}

// request asks a person and waits for the answer, or for ctx to end, which denies.
func (a *approvals) request(ctx context.Context, task, turn int, callID string, act action.Action, v action.Verdict) event.ApprovalAnswered {
	if !a.attended() {
		return event.ApprovalAnswered{CallID: callID, Decision: event.Reject, By: byNobody}
	}
	id := fmt.Sprintf("appr-%d-%s", task, newID())
	q := &ask{task: task, callID: callID, act: act, raised: v.Rule == taintRule || v.Rule == reopenedRule, answer: make(chan event.ApprovalAnswered, 1)}
	if !a.add(id, q, turn, event.ApprovalAsked{ID: id, CallID: callID, Action: act, Verdict: v, Context: a.context(act)}) {
		return event.ApprovalAnswered{ID: id, CallID: callID, Decision: event.Reject, By: "shutdown"}
	}
	select {
	case got := <-q.answer:
		return got
	case <-ctx.Done():
		by := "cancel"
		if errors.Is(context.Cause(ctx), errDropped) {
			by = "prompt"
		}
		a.settle(event.ApprovalAnswered{ID: id, Decision: event.Reject, By: by})
		return <-q.answer // ours, or the one that came first
	}
}

// byNobody names the answerer of a question where no person can be asked.
const byNobody = "nobody"

// attend says that answers arrive from now on; until then nobody is asked.
func (a *approvals) attend() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = true
}

func (a *approvals) attended() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.heard
}

// add opens a request, unless everything is denied by now. The event goes out before
// anyone can settle it.
func (a *approvals) add(id string, q *ask, turn int, e event.ApprovalAsked) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.open[id] = q
	a.stream.Publish(q.task, turn, e)
	return true
}

// settle answers a request and reports whether it was open.
func (a *approvals) settle(answer event.ApprovalAnswered) bool {
	a.mu.Lock()
	q := a.open[answer.ID]
	delete(a.open, answer.ID)
	a.mu.Unlock()
	if q == nil {
		return false
	}
	answer.CallID = q.callID
	a.stream.Publish(q.task, 0, answer)
	q.answer <- answer
	return true
}

// reject says what is wrong with an answer or a mode.
func (a *approvals) reject(format string, args ...any) {
	a.stream.Publish(0, 0, event.Error{Text: fmt.Sprintf(format, args...), Code: "bad_command"})
}

// answer takes a person's decision.
func (a *approvals) answer(c event.Approve) {
	switch c.Decision {
	case event.Once, event.Reject:
		c.Args = ""
	case event.Edit:
		if c.Args == "" {
			a.reject("approval %q: an edited call needs its arguments", c.ID)
			return
		}
	case event.Similar:
		if !a.addSimilar(c.ID) {
			a.reject("approval %q: there is no rule for what is like it", c.ID)
			return
		}
	default:
		a.reject("unknown decision %q (have: %s, %s, %s, %s)", c.Decision, event.Once, event.Similar, event.Edit, event.Reject)
		return
	}
	by := "user"
	if c.Nobody && c.Decision == event.Reject {
		by = byNobody
	}
	if !a.settle(event.ApprovalAnswered{ID: c.ID, Decision: c.Decision, By: by, Args: c.Args, Reason: c.Reason}) {
		a.reject("approval %q is not open", c.ID)
	}
	if c.Decision == event.Similar {
		a.review()
	}
}

// addSimilar adds the one rule that an open request proposes, for the rest of the session
// (F14).
func (a *approvals) addSimilar(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.open[id]
	if q == nil {
		return false
	}
	rule, ok := a.policy.Similar(q.act)
	if ok {
		a.policy = a.policy.With(rule)
		a.stream.Publish(0, 0, event.RuleAdded{Rule: rule, Scope: "session"})
	}
	return ok
}

// setMode changes how approvals are decided, for a while if d is not 0 (F05).
func (a *approvals) setMode(m action.Mode, d time.Duration) {
	if !slices.Contains(action.Modes, m) {
		a.reject("unknown mode %q (have: %s)", m, modeNames())
		return
	}
	changed := event.ModeChanged{Mode: m}
	a.mu.Lock()
	a.mode, a.until = m, time.Time{}
	if d > 0 {
		a.until = a.now().Add(d)
		changed.Until = a.until.UnixMilli()
	}
	a.mu.Unlock()
	a.stream.Publish(0, 0, changed)
	a.reviewMode(m)
}

func modeNames() string {
	var names []string
	for _, m := range action.Modes {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// review settles open requests that a new rule decides (F05).
func (a *approvals) review() { a.reviewMode("") }

// reviewMode settles open requests that a mode decides which a person has just set, "" for
// none.
func (a *approvals) reviewMode(set action.Mode) {
	for _, id := range a.ids(func(*ask) bool { return true }) {
		a.mu.Lock()
		q := a.open[id]
		a.mu.Unlock()
		if q == nil {
			continue
		}
		answer := event.ApprovalAnswered{ID: id, By: "policy"}
		v := a.judge(q.act)
		switch {
		case q.raised && set == action.ModeNone:
			answer.Decision, answer.Reason = event.Reject, "mode none denies what would need an approval"
		case q.raised && v.Decision == action.Allow && set != action.ModeAll:
			continue
		case v.Decision == action.Allow:
			answer.Decision, answer.Reason = event.Once, v.Reason
		case v.Decision == action.Deny:
			answer.Decision, answer.Reason = event.Reject, v.Reason
		default:
			continue
		}
		a.settle(answer)
	}
}

// denyTask denies what a task that has ended still asks.
func (a *approvals) denyTask(task int) {
	for _, id := range a.ids(func(q *ask) bool { return q.task == task }) {
		a.settle(event.ApprovalAnswered{ID: id, Decision: event.Reject, By: "cancel"})
	}
}

// shut denies everything, now and later (F07).
func (a *approvals) shut() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	for _, id := range a.ids(func(*ask) bool { return true }) {
		a.settle(event.ApprovalAnswered{ID: id, Decision: event.Reject, By: "shutdown"})
	}
}

func (a *approvals) ids(match func(*ask) bool) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ids []string
	for id, q := range a.open {
		if match(q) {
			ids = append(ids, id)
		}
	}
	return ids
}
