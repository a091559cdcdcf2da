// Package approval asks the person: whether a call may run, and what the model wants to know.
//
// Its invariant: every request is settled exactly once, by the first answer. A request that has no owner
// any more, because its task or the session ended, is denied; so is everything while nobody
// can answer. The event of a request is in the stream before anyone can settle it, and that
// of the answer before the call that waits goes on. [Broker] and [Questions] each have a lock
// of their own, which they never hold while somebody is waited for.
//
//	b := approval.New(events, pol, "local", action.ModeAsk, time.Now)
//	b.SetInteractive()
//	answer := b.Request(ctx, approval.Request{Task: 1, CallID: "c1", Action: act, Verdict: v})
//
// and elsewhere, when the person has decided:
//
//	b.Answer(event.AnswerApproval{ID: id, Decision: event.Once})
package approval

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
	"buddy/texts"
	"buddy/texts/unseen"
)

// Nobody is By of the answer to what no person could be asked.
const Nobody = "nobody"

// The rules of what is asked about though the policy allows it: only a person answers that.
const (
	Injected = "prompt injection"    // one was found, in a result or a file of the project
	Reopened = "not answered before" // an earlier process had asked, and nobody answered
)

// ErrSuperseded is the cause that ends what waits for an approval because the person went
// on with a prompt.
var ErrSuperseded = errors.New("the user sent a prompt instead")

// Broker stands between calls that need approval and the person who gives it. It judges by
// the policy under the current mode, and is safe for concurrent use.
type Broker struct {
	stream *stream.Stream
	now    func() time.Time
	target string // where the session begins

	mu     sync.Mutex // guards all below
	policy policy.Policy
	modeFor
	before      modeFor     // the last one that counted: it is the mode before plan
	rest        action.Mode // that follows a mode which ends
	open        map[string]*ask
	closed      bool
	interactive bool               // a person can answer
	lent        []action.Rule      // of the policy's, that end with the next prompt
	approved    string             // the plan that was approved last; "" if mode plan was begun since
	denied      bool               // the person denied a call since TakeDenied was asked
	left        *event.PlanEntered // an earlier process left the session in mode plan; nil: it did not
	fence
}

// modeFor is a mode and how long it applies.
type modeFor struct {
	mode   action.Mode
	until  time.Time // when it ends; zero = never
	screen string    // where the person was who chose it
	since  time.Time // when it began to apply
	stood  bool      // it counts, however short it has applied
}

// standing limits how short a mode may apply that counts as the one before plan.
const standing = 3 * time.Second

// counts reports whether it can be the mode before plan. One that a person only went through, on the way
// to another, can't: approving a plan would lead to a mode in which they never worked.
func (m modeFor) counts(now time.Time) bool {
	return m.mode != action.ModePlan && (m.stood || now.Sub(m.since) >= standing)
}

// ended reports whether its time is over.
func (m modeFor) ended(now time.Time) bool { return !m.until.IsZero() && !now.Before(m.until) }

// Request is a call that needs approval.
type Request struct {
	Task, Turn int
	CallID     string
	Action     action.Action
	Verdict    action.Verdict // why it is asked about
	Failed     string         // what went wrong when the same tool ran last; "" if nothing did
	Changed    string         // who changed the call, and the difference; "" if nobody did
	Memory     action.Memory  // what memory has about it, and what it may learn
	Agent      string         // the subagent that asks, for people; "" is none
	Most       action.Mode    // the loosest mode for it; "" is no limit
	AskedBy    string         // the hook that asks about it in every mode; "" if none does
	Hook       *Hook          // it is asked about because of a hook; nil: because of the policy
}

// Hook says why a call is asked about that the policy would let run.
type Hook struct {
	Offer string // what allowing similar calls does; "" = that is not offered
	Pass  func() // does it
}

// ask is one open request.
type ask struct {
	Request
	answer chan event.ApprovalAnswered // buffered: 1
	unseen []unseen.Mark               // of the changes that it shows
}

// raised reports whether it is asked about though the policy allows it.
func (q *ask) raised() bool {
	return q.Verdict.Rule == Injected || q.Verdict.Rule == Reopened || q.Hook != nil
}

// New returns a broker that asks in a stream, for a session that begins on a target. Until
// SetInteractive it denies what needs approval.
func New(s *stream.Stream, p policy.Policy, target string, m action.Mode, now func() time.Time) *Broker {
	rest := action.ModeAsk
	if slices.Contains([]action.Mode{action.ModeNone, action.ModePlan, action.ModeStrict}, m) {
		rest = m // no looser than the session began
	}
	before := modeFor{mode: m}
	if m == action.ModePlan {
		before.mode = action.ModeAsk
	}
	return &Broker{stream: s, policy: p, target: target, modeFor: modeFor{mode: m, stood: true}, before: before, rest: rest, now: now, open: make(map[string]*ask)}
}

// Judge applies the policy under the current mode, which may end by that, or under most if that is
// stricter; "" is no limit.
func (b *Broker) Judge(act action.Action, most action.Mode) action.Verdict {
	b.mu.Lock()
	if b.ended(b.now()) {
		b.turnTo(0, b.follows(b.modeFor))
	}
	p, mode := b.policy, b.mode
	b.mu.Unlock()
	return p.Judge(act, action.Stricter(mode, most))
}

// Denied returns why the policy denies an action to the agent whatever the mode, "" if it does
// not.
func (b *Broker) Denied(act action.Action) string {
	b.mu.Lock()
	p := b.policy
	b.mu.Unlock()
	if v := p.Judge(act, action.ModeAsk); v.Decision == action.Deny {
		return v.Reason
	}
	return ""
}

// Grantable reports whether a program of the person's may approve an action in the person's place,
// see [policy.Policy.Grantable]. most is as in Judge.
func (b *Broker) Grantable(act action.Action, most action.Mode) bool {
	p, mode := b.rules(most)
	return p.Grantable(act, mode)
}

// context returns what a person should know of an action.
func (b *Broker) context(act action.Action, most action.Mode) action.ApprovalContext {
	p, mode := b.rules(most)
	return p.Context(act, mode)
}

// rules returns the policy and the mode of now, or most if that is stricter; "" is no limit.
func (b *Broker) rules(most action.Mode) (policy.Policy, action.Mode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.policy, action.Stricter(b.mode, most)
}

// Free describes the commands that run without approval on a target, for people.
func (b *Broker) Free(target string) string {
	b.mu.Lock()
	p := b.policy
	b.mu.Unlock()
	return p.Free(target)
}

// Mode returns the current mode and when it ends; zero is never.
func (b *Broker) Mode() (action.Mode, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended(b.now()) {
		return b.rest, time.Time{}
	}
	return b.mode, b.until
}

// Request asks the person and waits for the answer, or for ctx to end, which denies.
func (b *Broker) Request(ctx context.Context, req Request) event.ApprovalAnswered {
	if !b.Interactive() {
		return event.ApprovalAnswered{CallID: req.CallID, Decision: event.Deny, By: Nobody}
	}
	id := fmt.Sprintf("appr-%d-%s", req.Task, stream.NewID())
	q := &ask{Request: req, answer: make(chan event.ApprovalAnswered, 1)}
	known := b.context(req.Action, req.Most)
	known.Failed, known.Changed, known.AskedBy = req.Failed, req.Changed, req.AskedBy
	known.Memory = req.Memory
	if req.Verdict.Reason != known.Why { // not the policy asks, or not alone
		known.Because = req.Verdict.Reason
	}
	if req.Hook != nil { // a rule would change nothing
		known.Why, known.Rule = req.Verdict.Reason, req.Verdict.Rule
		known.Similar, known.Passes, known.Stops, known.Exact = req.Hook.Offer, nil, "", false
	}
	known.Unseen, q.unseen = changes(b, req.Action, req.Most)
	if !b.add(id, q, event.ApprovalAsked{ID: id, CallID: req.CallID, Action: req.Action, Verdict: req.Verdict, Context: known, Agent: req.Agent}) {
		return event.ApprovalAnswered{ID: id, CallID: req.CallID, Decision: event.Deny, By: "shutdown"}
	}
	select {
	case got := <-q.answer:
		return got
	case <-ctx.Done():
		by := "cancel"
		if errors.Is(context.Cause(ctx), ErrSuperseded) {
			by = "prompt"
		}
		b.settle(event.ApprovalAnswered{ID: id, Decision: event.Deny, By: by})
		return <-q.answer // ours, or the one that came first
	}
}

// SetInteractive marks that a person can answer from now on; until then nobody is asked.
func (b *Broker) SetInteractive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.interactive = true
}

// Interactive reports whether a person can answer.
func (b *Broker) Interactive() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.interactive
}

// add opens a request, unless everything is denied by now. The event goes out before
// anyone can settle it.
func (b *Broker) add(id string, q *ask, e event.ApprovalAsked) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.open[id] = q
	b.stream.Publish(q.Task, q.Turn, e)
	return true
}

// TakeDenied reports, once, whether the person has denied a call.
func (b *Broker) TakeDenied() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	denied := b.denied
	b.denied = false
	return denied
}

// settle answers a request and reports whether it was open.
func (b *Broker) settle(answer event.ApprovalAnswered) bool {
	b.mu.Lock()
	q := b.open[answer.ID]
	delete(b.open, answer.ID)
	b.denied = b.denied || q != nil && answer.Decision == event.Deny && answer.By == "user"
	b.mu.Unlock()
	if q == nil {
		return false
	}
	if answer.By == "user" && answer.Decision != event.Deny {
		unseen.Clear(q.unseen)
	}
	answer.CallID = q.CallID
	b.stream.Publish(q.Task, 0, answer)
	q.answer <- answer
	return true
}

// Answer settles a request as a person decided. One that makes no sense is rejected.
func (b *Broker) Answer(c event.AnswerApproval) {
	switch c.Decision {
	case event.Once, event.Deny:
		c.Args = ""
		c.Remember = b.remembers(c)
	case event.Edit:
		if c.Args == "" {
			b.stream.Reject("approval %q: an edited call needs its arguments", c.ID)
			return
		}
	case event.Similar:
		if !b.isOpen(c.ID) {
			b.tooLate(c)
			return
		}
		if !b.addSimilar(c.ID) {
			b.stream.Reject("approval %q: no rule can allow similar actions", c.ID)
			return
		}
	default:
		b.stream.Reject("unknown decision %q (have: %s, %s, %s, %s)", c.Decision, event.Once, event.Similar, event.Edit, event.Deny)
		return
	}
	by := "user"
	if c.Nobody && c.Decision == event.Deny {
		by = Nobody
	}
	if !b.settle(event.ApprovalAnswered{ID: c.ID, Decision: c.Decision, By: by, Args: c.Args, Reason: c.Reason, Remember: c.Remember, Screen: c.Screen}) {
		b.tooLate(c)
	}
	if c.Decision == event.Similar {
		b.reviewMode("")
	}
}

// tooLate says that an answer has changed nothing: of two persons, or two screens of one, the first wins.
func (b *Broker) tooLate(c event.AnswerApproval) {
	b.stream.Reject("the answer %q came too late: the approval was already answered, or its task has ended", c.Decision)
}

// remembers returns the scope in which the reason of an answer is remembered, "" or [event.RememberNothing] for
// none: it must be one of those that the request offered, and there must be a reason. The denial itself counts in any case.
func (b *Broker) remembers(c event.AnswerApproval) string {
	b.mu.Lock()
	q := b.open[c.ID]
	b.mu.Unlock()
	switch {
	case q == nil || c.Remember == "":
		return ""
	case c.Remember == event.RememberNothing && c.Decision == event.Deny:
		return c.Remember
	case c.Decision != event.Deny || c.Nobody || strings.TrimSpace(c.Reason) == "":
		b.stream.Reject("approval %q: only the reason of a denial can be remembered", c.ID)
		return ""
	case !slices.Contains(q.Memory.Scopes, c.Remember):
		b.stream.Reject("approval %q: nothing was remembered in %q (have: %s)", c.ID, c.Remember, texts.Names(q.Memory.Scopes))
		return ""
	}
	return c.Remember
}

// Waits reports whether a task waits for an approval.
func (b *Broker) Waits(task int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.open {
		if q.Task == task {
			return true
		}
	}
	return false
}

func (b *Broker) isOpen(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open[id] != nil
}

// addSimilar adds the one rule that an open request proposes, for the rest of the session.
func (b *Broker) addSimilar(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.open[id]
	if q == nil {
		return false
	}
	if q.Hook != nil {
		if q.Hook.Offer == "" {
			return false
		}
		q.Hook.Pass()
		return true
	}
	rules, ok := policy.SimilarAll(b.policy, q.Action, b.mode)
	for _, rule := range rules {
		b.policy = b.policy.With(rule)
		b.stream.Publish(0, 0, event.RuleAdded{Rule: rule, Scope: "session"})
	}
	return ok
}

// reviewMode settles open requests that a new rule decides, or a mode that a person has just set, "" for none.
func (b *Broker) reviewMode(set action.Mode) {
	for _, id := range b.ids(func(*ask) bool { return true }) {
		b.mu.Lock()
		q := b.open[id]
		b.mu.Unlock()
		if q == nil {
			continue
		}
		answer := event.ApprovalAnswered{ID: id, By: "policy"}
		v := b.Judge(q.Action, q.Most)
		switch {
		case q.raised() && set == action.ModeNone:
			answer.Decision, answer.Reason = event.Deny, "none mode denies everything that needs approval"
		case q.raised() && v.Decision == action.Allow && set != action.ModeAll:
			continue
		case v.Decision == action.Allow:
			answer.Decision, answer.Reason, answer.Rule = event.Once, v.Reason, v.Rule
		case v.Decision == action.Deny:
			answer.Decision, answer.Reason = event.Deny, v.Reason
		default:
			continue
		}
		b.settle(answer)
	}
}

// DenyTask denies what a task that has ended still asks.
func (b *Broker) DenyTask(task int) {
	for _, id := range b.ids(func(q *ask) bool { return q.Task == task }) {
		b.settle(event.ApprovalAnswered{ID: id, Decision: event.Deny, By: "cancel"})
	}
}

// Close denies everything, now and later.
func (b *Broker) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	for _, id := range b.ids(func(*ask) bool { return true }) {
		b.settle(event.ApprovalAnswered{ID: id, Decision: event.Deny, By: "shutdown"})
	}
}

func (b *Broker) ids(match func(*ask) bool) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for id, q := range b.open {
		if match(q) {
			ids = append(ids, id)
		}
	}
	return ids
}
