// Package usage counts the tokens and the cost of a session, and reports when a task has used up its budget.
//
//	l := usage.New(events, usage.Budget{Limits: settings.Limits{MaxCost: 2 * model.Dollar, WarnAt: 80}})
//	var t usage.Task
//	l.Request(usage.Asker{Task: 1, Turn: 1, Used: &t}, m.Info(), tokens)
//	if outcome := l.Exhausted(1, &t, turns); outcome != "" { … }
//
// The sums never decrease or overflow. They are published under the lock of the [Ledger], so that each event has the
// current sums.
package usage

import (
	"cmp"
	"fmt"
	"sync"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/agent/settings"
	"buddy/agent/stream"
	"buddy/texts"
)

// Budget limits one exchange.
type Budget struct {
	settings.Limits
	// ToolTokens limits the tokens of a tool's results in a task, by its name or AnyTool; 0 is no limit.
	ToolTokens map[string]int
}

// Ledger holds the usage of the last request, the last task and the session. It is safe for concurrent use; use New.
type Ledger struct {
	stream *stream.Stream
	budget Budget

	mu       sync.Mutex // guards the fields below, and every Task
	sums     event.MetricsUsage
	asked    event.MetricsUsage // last request of a task
	last     *Task              // nil before the first request
	unpriced string             // model that the person was warned about, because its price is unknown
	tools    toolUses           // of the session
}

// Task holds the usage of one task. Its ledger's lock guards it; the zero value is ready.
type Task struct {
	above    *Task // the caller's task; may be nil
	maxTurns int   // 0: the limit of the ledger's budget
	usage    model.Usage
	cost     model.Money
	own      model.Money // without the tasks that it called
	unpriced int         // requests of unknown cost
	tools    toolUses
	refused  toolUses // results of calls that did not run; tools counts them, too
	warned   map[event.BudgetKind]bool
}

// CountUnder makes the usage of a task count for the given task as well, and limits the turns of t; 0 means the
// ledger's limit. It must be called before the first usage.
func (t *Task) CountUnder(above *Task, maxTurns int) { t.above, t.maxTurns = above, maxTurns }

// New returns an empty ledger that publishes in a stream.
func New(s *stream.Stream, b Budget) *Ledger { return &Ledger{stream: s, budget: b} }

// Replay processes a stored event and its subject.
func (l *Ledger) Replay(e event.Event, about record.Subject) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := about.Call; c != nil && c.Result != nil {
		l.replayTool(c)
	}
	if sums, ok := e.(event.MetricsUsage); ok {
		l.sums = sums
		if sums.For != event.OfTitle {
			l.asked = sums
		}
	}
}

// Asker identifies the task and purpose of a request.
type Asker struct {
	Task int // number; 0: no task, so only the session's sums count it
	Turn int
	Used *Task // nil without a task
	For  event.Purpose
}

// Request counts the tokens of a request as the provider reported them; nil counts nothing. from is the model that
// answered.
func (l *Ledger) Request(by Asker, from model.Info, u *model.Usage) {
	if u == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.request(by, *u, from)
	l.stream.Publish(by.Task, by.Turn, l.sums)
	if l.budget.MaxCost > 0 && !from.Price.Covers(*u) && l.unpriced != from.Model {
		l.unpriced = from.Model
		l.stream.Publish(by.Task, by.Turn, event.Warning{
			Text: "max_cost does not count the cost of " + from.Model + ", because its price is unknown", Code: "budget",
			NextStep: "set price_input and price_output in the profile " + from.Profile,
		})
	}
}

// request adds a request to the sums, which do not change where they would overflow. The caller holds l.mu.
func (l *Ledger) request(by Asker, u model.Usage, from model.Info) {
	cost, t := from.Price.Cost(u), by.Used
	m := &l.sums
	m.For, m.Model, m.PerTool = by.For, from.Model, nil
	m.Prompt, m.Completion, m.Cached, m.CacheWrite, m.Cost = max(u.Prompt, 0), max(u.Completion, 0), max(u.Cached, 0), max(u.CacheWrite, 0), cost
	add(&m.SessionPrompt, u.Prompt)
	add(&m.SessionCompletion, u.Completion)
	add(&m.SessionCached, u.Cached)
	m.SessionCost += cost
	if !from.Price.Covers(u) {
		m.SessionUnpriced++
	}
	if t == nil {
		return
	}
	if t.above != nil && m.For == event.OfAnswer {
		m.For = event.OfSubagent
	}
	t.own += cost
	for one := t; one != nil; one = one.above {
		l.last = one
		one.add(u, cost, from.Price.Covers(u))
	}
	m.PerTool = t.tools.top(maxTopTools)
	l.asked = *m
}

// add adds a request to the task's usage. The caller holds the ledger's lock.
func (t *Task) add(u model.Usage, cost model.Money, priced bool) {
	add(&t.usage.Prompt, u.Prompt)
	add(&t.usage.Completion, u.Completion)
	add(&t.usage.Cached, u.Cached)
	add(&t.usage.CacheWrite, u.CacheWrite)
	t.cost += cost
	if !priced {
		t.unpriced++
	}
}

// Total returns the tokens of a task.
func (l *Ledger) Total(t *Task) model.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.usage
}

// SetLimits sets the rate limits of the account, which the next [Ledger.Request] publishes. nil means that the provider
// reports none.
func (l *Ledger) SetLimits(all []model.RateLimit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sums.Limits = all
}

// Own returns the cost of a task's own requests, without agents that it called, as far as prices are known.
func (l *Ledger) Own(t *Task) model.Money {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.own
}

// Used describes the usage of a task and all that it called.
func (l *Ledger) Used(t *Task) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return used(t.usage.Prompt, t.usage.Cached, t.usage.Completion, t.cost, t.unpriced)
}

// Spent returns the cost of a task and all that it called, as far as prices are known, and its limit; 0 is no limit.
func (l *Ledger) Spent(t *Task) (spent, most model.Money) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.cost, l.budget.MaxCost
}

// Exhausted returns the outcome of a task whose budget is used up, otherwise "". The cost budget is shared by all
// tasks of a prompt. It warns once about each budget that is nearly used up.
func (l *Ledger) Exhausted(id int, t *Task, turns int) event.Outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := cmp.Or(t.maxTurns, l.budget.MaxIterations)
	if l.spent(id, t, event.TurnBudget, int64(turns), int64(most)) {
		l.stream.Publish(id, 0, event.MaxTurnsReached{Task: id, Turns: most, TopTools: t.tools.top(maxTopTools)})
		return event.MaxTurns
	}
	whole := t
	for whole.above != nil {
		whole = whole.above
	}
	if l.spent(id, t, event.CostBudget, int64(whole.cost), int64(l.budget.MaxCost)) {
		return event.MaxCost
	}
	return ""
}

// spent reports whether a budget is used up; 0 is no limit. The caller holds l.mu.
func (l *Ledger) spent(id int, t *Task, kind event.BudgetKind, used, limit int64) bool {
	switch {
	case limit <= 0:
	case used >= limit:
		l.stream.Publish(id, 0, event.BudgetExceeded{Kind: kind, Used: used, Limit: limit, TopTools: t.tools.top(maxTopTools)})
		return true
	case used >= limit-percent(limit, 100-l.budget.WarnAt) && !t.warned[kind]:
		if t.warned == nil {
			t.warned = make(map[event.BudgetKind]bool)
		}
		t.warned[kind] = true
		l.stream.Publish(id, 0, event.BudgetWarning{Kind: kind, Used: used, Limit: limit, TopTools: t.tools.top(maxTopTools)})
	}
	return false
}

// percent returns a part of a limit, rounded down.
func percent(limit int64, part int) int64 { return limit/100*int64(part) + limit%100*int64(part)/100 }

// add adds n to sum, unless n is negative or the sum would overflow.
func add(sum *int, n int) {
	if more := *sum + max(n, 0); more >= *sum {
		*sum = more
	}
}

// LastRequest describes the usage of the last request of a task.
func (l *Ledger) LastRequest() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.asked
	return used(m.Prompt, m.Cached, m.Completion, m.Cost, 0)
}

// LastTask describes the usage of the task with the last request.
func (l *Ledger) LastTask() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.last
	if t == nil {
		t = &Task{}
	}
	text := used(t.usage.Prompt, t.usage.Cached, t.usage.Completion, t.cost, t.unpriced)
	for i, tool := range t.tools.top(maxTopTools) {
		sep := ", "
		if i == 0 {
			sep = "; largest results: "
		}
		text += sep + tool.Text()
	}
	return text
}

// Session describes the usage of the session.
func (l *Ledger) Session() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.sums
	return used(m.SessionPrompt, m.SessionCached, m.SessionCompletion, m.SessionCost, m.SessionUnpriced)
}

// used describes tokens and cost, as far as it is known.
func used(in, cached, out int, cost model.Money, unpriced int) string {
	text := texts.Count(in) + " tokens in"
	if cached > 0 {
		text += " (" + texts.Count(cached) + " cached)"
	}
	text += ", " + texts.Count(out) + " out"
	if cost > 0 {
		text += ", " + cost.String()
	}
	if cost > 0 && unpriced > 0 {
		text += fmt.Sprintf(" (requests without a known price: %d)", unpriced)
	}
	return text
}
