// Package approval asks the user to approve tool calls, and to answer the model's questions.
//
// A request is settled exactly once, by the first answer. A request for approval is denied if its task or session
// ends before that, or if no user can answer. An event about the request is published before anyone can settle it,
// and an event about the answer before the waiting call continues. [Broker] and [Questions] don't hold their locks
// while they wait for the user.
//
//	b := approval.New(events, pol, "local", action.ModeAsk, time.Now)
//	b.SetInteractive()
//	answer := b.Request(ctx, approval.Request{Task: 1, CallID: "c1", Action: act, Verdict: v})
//
// Meanwhile, another goroutine passes on the user's decision:
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

// Nobody replaces the user in the By field of an answer if no user could be asked.
const Nobody = "nobody"

// Reasons to ask the user even though the policy allows the action. They are the Rule of such a request's verdict.
const (
	Injected = "prompt injection"    // in a result or a file of the project
	Reopened = "not answered before" // an earlier process asked without getting an answer
)

// ErrSuperseded is the cancellation cause of approvals that end because the user sent a prompt instead.
var ErrSuperseded = errors.New("the user sent a prompt instead")

// Broker decides about calls by the policy under the current mode, and asks the user for approval where needed. It is
// safe for concurrent use.
type Broker struct {
	stream *stream.Stream
	now    func() time.Time
	target string // first target of the session

	mu     sync.Mutex // guards the fields below
	policy policy.Policy
	modeFor
	before      modeFor     // the mode that plan mode returns to, see counts
	rest        action.Mode // the mode that applies after a time limit
	open        map[string]*ask
	closed      bool
	interactive bool               // a person can answer
	lent        []action.Rule      // rules of policy that end with the next prompt
	approved    string             // last approved plan; "" if plan mode has started since
	denied      bool               // the person denied a call since the last TakeDenied
	restored    *event.PlanEntered // an earlier process ended in plan mode; nil: it did not
	fence
}

// modeFor is a mode and its time limit.
type modeFor struct {
	mode   action.Mode
	until  time.Time // zero: never
	screen string    // where the person chose it
	since  time.Time // start of the mode
	stood  bool      // the mode counts, however briefly it applied
}

// standing holds how long a mode must have been set before plan mode may return to it.
const standing = 3 * time.Second

// counts reports whether plan mode may return to the mode. Modes that the user only passed through don't count:
// otherwise, an approved plan could run in a mode that the user never worked in.
func (m modeFor) counts(now time.Time) bool {
	return m.mode != action.ModePlan && (m.stood || now.Sub(m.since) >= standing)
}

func (m modeFor) ended(now time.Time) bool { return !m.until.IsZero() && !now.Before(m.until) }

// Request describes a call that needs approval.
type Request struct {
	Task, Turn int
	CallID     string
	Action     action.Action
	Verdict    action.Verdict // why it needs approval
	Failed     string         // failure of the last call of the same tool; "" if it succeeded
	Changed    string         // who changed the call, and the difference; "" if unchanged
	Memory     action.Memory  // memory's entries about the call, and the scopes for learning from a denial
	Agent      string         // the subagent that asks, for display; "" is none
	Most       action.Mode    // the loosest mode for the call; "" is no limit
	AskedBy    string         // the hook that requires approval in every mode; "" is none
	Hook       *Hook          // set if a hook requires the approval; nil: the policy does
	Tried      *action.Tried  // the result of trying the command, which the person decides about; nil if it was not tried
	Untried    string         // why trying the command failed, as a clause; "" if it was not tried
}

// Hook describes an approval that only a hook requires.
type Hook struct {
	Offer string // label of the choice to allow similar calls; "" = no such choice
	Pass  func() // executes that choice
}

type ask struct {
	Request
	answer chan event.ApprovalAnswered // buffered: 1
	unseen []unseen.Mark               // marks of the changes that the request shows
	tries  bool                        // the command may be tried, for the first time or again
}

// raised reports whether the request asks for approval although the policy allows the call.
func (q *ask) raised() bool {
	return q.Verdict.Rule == Injected || q.Verdict.Rule == Reopened || q.Hook != nil
}

// New returns a broker that publishes requests in a stream; target is the session's first target. Until SetInteractive
// is called, the broker denies calls that need approval.
func New(s *stream.Stream, p policy.Policy, target string, m action.Mode, now func() time.Time) *Broker {
	rest := action.ModeAsk
	if slices.Contains([]action.Mode{action.ModeNone, action.ModePlan, action.ModeStrict}, m) {
		rest = m // no looser than the first mode of the session
	}
	before := modeFor{mode: m}
	if m == action.ModePlan {
		before.mode = action.ModeAsk
	}
	return &Broker{stream: s, policy: p, target: target, modeFor: modeFor{mode: m, stood: true}, before: before, rest: rest, now: now, open: make(map[string]*ask)}
}

// Judge returns the policy's verdict under the current mode, or under the mode most if that is stricter. most "" sets
// no limit. If the current mode's time limit is over, Judge first ends the mode.
func (b *Broker) Judge(act action.Action, most action.Mode) action.Verdict {
	b.mu.Lock()
	if b.ended(b.now()) {
		b.turnTo(0, b.follows(b.modeFor))
	}
	p, mode := b.policy, b.mode
	b.mu.Unlock()
	return p.Judge(act, action.Stricter(mode, most))
}

// Denied returns why the policy denies an action in every mode, or "" if it does not.
func (b *Broker) Denied(act action.Action) string {
	b.mu.Lock()
	p := b.policy
	b.mu.Unlock()
	if v := p.Judge(act, action.ModeAsk); v.Decision == action.Deny {
		return v.Reason
	}
	return ""
}

// Grantable reports whether a hook of the user may approve an action, see [policy.Policy.Grantable]. most is as in
// Judge.
func (b *Broker) Grantable(act action.Action, most action.Mode) bool {
	p, mode := b.rules(most)
	return p.Grantable(act, mode)
}

// Certainty returns how sure the policy is of an action's effect, and what could be done instead, see
// [policy.Certainty]. most is as in [Broker.Judge].
func Certainty(b *Broker, act action.Action, most action.Mode) (confidence string, alternatives []string) {
	p, mode := b.rules(most)
	return policy.Certainty(p, act, mode)
}

func (b *Broker) context(act action.Action, most action.Mode) action.ApprovalContext {
	p, mode := b.rules(most)
	return p.Context(act, mode)
}

// rules returns the current policy, and the stricter of the current mode and most. most "" sets no limit.
func (b *Broker) rules(most action.Mode) (policy.Policy, action.Mode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.policy, action.Stricter(b.mode, most)
}

// Free returns a text for the user about the commands that run without approval on a target.
func (b *Broker) Free(target string) string {
	b.mu.Lock()
	p := b.policy
	b.mu.Unlock()
	return p.Free(target)
}

// Mode returns the current mode and when it ends; the zero time means never.
func (b *Broker) Mode() (action.Mode, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended(b.now()) {
		return b.rest, time.Time{}
	}
	return b.mode, b.until
}

// Request asks the user and waits for the answer. The request is denied if nobody can answer, or if ctx ends first.
func (b *Broker) Request(ctx context.Context, req Request) event.ApprovalAnswered {
	if !b.Interactive() {
		return event.ApprovalAnswered{CallID: req.CallID, Decision: event.Deny, By: Nobody}
	}
	id := fmt.Sprintf("appr-%d-%s", req.Task, stream.NewID())
	q := &ask{Request: req, answer: make(chan event.ApprovalAnswered, 1)}
	known := b.context(req.Action, req.Most)
	known.Failed, known.Changed, known.AskedBy = req.Failed, req.Changed, req.AskedBy
	known.Memory = req.Memory
	if req.Verdict.Reason != known.Why { // the policy does not require approval, or not alone
		known.Because = req.Verdict.Reason
	}
	if req.Hook != nil { // a rule would have no effect
		known.Why, known.Rule = req.Verdict.Reason, req.Verdict.Rule
		known.Similar, known.Passes, known.Stops, known.Exact = req.Hook.Offer, nil, "", false
	}
	q.tries = tried(&known, req)
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
		return <-q.answer // this answer, or an earlier one
	}
}

// tried adds the result of trying the command, if it was tried, to the details of a request. It reports whether the
// user may now choose to try it (again).
func tried(known *action.ApprovalContext, req Request) bool {
	if req.Untried != "" {
		known.Try = action.Try{Why: req.Untried}
	}
	if known.Tried = req.Tried; req.Tried == nil {
		return known.Try.Offered
	}
	known.Similar, known.Passes, known.Stops, known.Exact = "", nil, "", false
	return !req.Tried.Keepable()
}

// SetInteractive marks that a user can answer; before that, nobody is asked.
func (b *Broker) SetInteractive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.interactive = true
}

// Interactive reports whether a user can answer.
func (b *Broker) Interactive() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.interactive
}

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

// TakeDenied reports whether the user has denied a call since the last TakeDenied.
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

// Answer settles a request with the user's decision. An invalid decision is rejected.
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
	case event.Try, event.Keep:
		if why := noTrial(b, c); why != "" {
			b.stream.Reject("approval %q: %s", c.ID, why)
			return
		}
		c.Args, c.Reason = "", ""
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
		b.stream.Reject("unknown decision %q (have: %s, %s, %s, %s, %s, %s)", c.Decision, event.Once, event.Similar, event.Edit, event.Deny, event.Try, event.Keep)
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

// noTrial returns why the decision to try a command or to keep its changes is invalid, "" if it is valid.
func noTrial(b *Broker, c event.AnswerApproval) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch q := b.open[c.ID]; {
	case q == nil: // settle rejects it
		return ""
	case c.Nobody:
		return "only a person can try a command"
	case c.Decision == event.Try && !q.tries:
		return "this command can't be tried"
	case c.Decision == event.Keep && !q.Tried.Keepable():
		return "there are no changes that can be kept"
	}
	return ""
}

// tooLate rejects an answer to a settled request: if several people or screens answer, the first answer wins.
func (b *Broker) tooLate(c event.AnswerApproval) {
	b.stream.Reject("the answer %q came too late: the approval was already answered, or its task has ended", c.Decision)
}

// remembers returns the scope in which to remember the reason of a denial, [event.RememberNothing] if the user chose
// that, or "". It rejects a missing reason and a scope that the request did not offer; the denial itself is valid in
// any case.
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

// addSimilar adds the rules that "allow similar" offers for an open request, for the rest of the session. If only a
// hook requires the approval, it runs Hook.Pass instead. It reports whether the choice was offered.
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

// reviewMode settles the open requests that no longer need the user's decision under the current rules and mode. set is
// the mode that the user has just set, or "".
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
		case q.raised() && v.Decision == action.Allow && set != action.ModeAll, q.Tried != nil && v.Decision == action.Allow:
			continue // the person decides about the changes of a command that was tried
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

// DenyTask denies the open requests of a task that has ended.
func (b *Broker) DenyTask(task int) {
	for _, id := range b.ids(func(q *ask) bool { return q.Task == task }) {
		b.settle(event.ApprovalAnswered{ID: id, Decision: event.Deny, By: "cancel"})
	}
}

// Close denies all open and later requests.
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
