package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
)

// approvals is the broker between calls that need a yes and the person who gives it.
// Each request is settled once and the first answer wins; who has no owner any more is
// denied (F07).
type approvals struct {
	stream *stream
	policy policy.Policy
	now    func() time.Time

	mu     sync.Mutex // guards all below
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
	answer chan event.ApprovalAnswered // buffered: 1
}

func newApprovals(s *stream, p policy.Policy, m action.Mode, now func() time.Time) *approvals {
	return &approvals{stream: s, policy: p, mode: m, now: now, open: make(map[string]*ask)}
}

// judge applies the policy under the current mode.
func (a *approvals) judge(act action.Action) action.Verdict {
	a.mu.Lock()
	expired := !a.until.IsZero() && !a.now().Before(a.until)
	if expired {
		a.mode, a.until = action.ModeAsk, time.Time{}
	}
	mode := a.mode
	a.mu.Unlock()
	if expired {
		_ = a.stream.emit(0, 0, event.ModeChanged{Mode: action.ModeAsk})
	}
	return a.policy.Judge(act, mode)
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
		return event.ApprovalAnswered{CallID: callID, Decision: event.Reject, By: "policy", Reason: "there is nobody to ask"}
	}
	id := fmt.Sprintf("appr-%d-%s", task, newID())
	q := &ask{task: task, callID: callID, answer: make(chan event.ApprovalAnswered, 1)}
	if !a.add(id, q, turn, event.ApprovalAsked{ID: id, CallID: callID, Action: act, Verdict: v}) {
		return event.ApprovalAnswered{ID: id, CallID: callID, Decision: event.Reject, By: "shutdown"}
	}
	select {
	case got := <-q.answer:
		return got
	case <-ctx.Done():
		a.settle(id, event.Reject, "cancel", "")
		return <-q.answer // ours, or the one that came first
	}
}

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
	_ = a.stream.emit(q.task, turn, e)
	return true
}

// settle answers a request and reports whether it was open.
func (a *approvals) settle(id string, d event.Decision, by, reason string) bool {
	a.mu.Lock()
	q := a.open[id]
	delete(a.open, id)
	a.mu.Unlock()
	if q == nil {
		return false
	}
	answer := event.ApprovalAnswered{ID: id, CallID: q.callID, Decision: d, By: by, Reason: reason}
	_ = a.stream.emit(q.task, 0, answer)
	q.answer <- answer
	return true
}

// answer takes a person's decision.
func (a *approvals) answer(c event.Approve) {
	if c.Decision != event.Once && c.Decision != event.Reject {
		_ = a.stream.emit(0, 0, event.Error{Text: fmt.Sprintf("unknown decision %q (have: %s, %s)", c.Decision, event.Once, event.Reject), Code: "bad_command"})
		return
	}
	if !a.settle(c.ID, c.Decision, "user", c.Reason) {
		_ = a.stream.emit(0, 0, event.Error{Text: fmt.Sprintf("approval %q is not open", c.ID), Code: "bad_command"})
	}
}

// setMode changes how approvals are decided; a mode that decides by itself settles
// what is open (F05).
func (a *approvals) setMode(m action.Mode, d time.Duration) {
	changed := event.ModeChanged{Mode: m}
	decision := event.Once
	switch m {
	case action.ModeAsk, action.ModeAll:
	case action.ModeNone:
		decision = event.Reject
	default:
		_ = a.stream.emit(0, 0, event.Error{Text: fmt.Sprintf("unknown mode %q (have: %s, %s, %s)", m, action.ModeAsk, action.ModeAll, action.ModeNone), Code: "bad_command"})
		return
	}
	a.mu.Lock()
	a.mode, a.until = m, time.Time{}
	if d > 0 {
		a.until = a.now().Add(d)
		changed.Until = a.until.UnixMilli()
	}
	a.mu.Unlock()
	_ = a.stream.emit(0, 0, changed)
	if m == action.ModeAsk {
		return
	}
	for _, id := range a.ids(func(*ask) bool { return true }) {
		a.settle(id, decision, "policy", "mode "+string(m))
	}
}

// denyTask denies what a task that has ended still asks.
func (a *approvals) denyTask(task int) {
	for _, id := range a.ids(func(q *ask) bool { return q.task == task }) {
		a.settle(id, event.Reject, "cancel", "")
	}
}

// shut denies everything, now and later (F07).
func (a *approvals) shut() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	for _, id := range a.ids(func(*ask) bool { return true }) {
		a.settle(id, event.Reject, "shutdown", "")
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
