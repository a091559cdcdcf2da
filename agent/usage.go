package agent

import (
	"cmp"
	"slices"

	"buddy/agent/event"
	"buddy/agent/model"
)

// ledger is what was used: by the last request and the session, as it is reported, and by
// the task that asked last.
type ledger struct {
	event.MetricsUsage
	task     *taskUse // nil before the first request
	unpriced string   // the model whose missing price was told
	// unmeasured is what was told of models whose window is not known.
	unmeasured map[string]bool
}

// taskUse is what one task used.
type taskUse struct {
	usage    model.Usage
	cost     model.Money
	unpriced int            // requests whose cost is not known
	tools    map[string]int // tokens of results, by the name that the model used (D26)
	warned   map[event.BudgetKind]bool
}

// result counts what a model reads of a tool, four bytes a token (D26).
func (t *taskUse) result(tool, text string) {
	if t.tools == nil {
		t.tools = make(map[string]int)
	}
	t.tools[tool] += len(text) / 4
}

// request counts what a request of a task used. Sums stay as they are where they would
// overflow.
func (l *ledger) request(t *taskUse, u model.Usage, price model.Price) {
	l.task = t
	cost := price.Cost(u)
	add(&t.usage.Prompt, u.Prompt)
	add(&t.usage.Completion, u.Completion)
	add(&t.usage.Cached, u.Cached)
	add(&t.usage.CacheWrite, u.CacheWrite)
	t.cost += cost

	m := &l.MetricsUsage
	m.Prompt, m.Completion, m.Cached, m.CacheWrite, m.Cost = u.Prompt, u.Completion, u.Cached, u.CacheWrite, cost
	add(&m.SessionPrompt, u.Prompt)
	add(&m.SessionCompletion, u.Completion)
	add(&m.SessionCached, u.Cached)
	m.SessionCost += cost
	if !price.Known() {
		t.unpriced++
		m.SessionUnpriced++
	}
	m.PerTool = t.top()
}

// beside counts a request that belongs to no task: only the session's sums have it.
func (l *ledger) beside(u model.Usage, price model.Price) {
	m := &l.MetricsUsage
	add(&m.SessionPrompt, u.Prompt)
	add(&m.SessionCompletion, u.Completion)
	add(&m.SessionCached, u.Cached)
	m.SessionCost += price.Cost(u)
	if !price.Known() {
		m.SessionUnpriced++
	}
}

// add adds what is not negative, up to what an int holds (B12).
func add(sum *int, n int) {
	if more := *sum + max(n, 0); more >= *sum {
		*sum = more
	}
}

// maxTopTools is how many tools a report names.
const maxTopTools = 3

// top returns the tools whose results were the largest, those first.
func (t *taskUse) top() []event.ToolUse {
	var all []event.ToolUse
	for name, tokens := range t.tools {
		all = append(all, event.ToolUse{Name: name, Tokens: tokens})
	}
	slices.SortFunc(all, func(a, b event.ToolUse) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), maxTopTools)]
}

// count adds up what the provider said of its tokens; nothing when it said nothing (A29).
// from is who answered.
func (r *Runtime) count(t *task, turn int, from model.Info, u *model.Usage) {
	if u == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.request(&t.use, *u, from.Price)
	r.emit(t.id, turn, r.usage.MetricsUsage)
	if r.opts.MaxCost > 0 && !from.Price.Known() && r.usage.unpriced != from.Model {
		r.usage.unpriced = from.Model
		r.emit(t.id, turn, event.Warning{
			Text: "max_cost does not count what " + from.Model + " costs, because its price is not known", Code: "budget",
			NextStep: "set price_input and price_output in the profile " + from.Profile,
		})
	}
}

// calibrate corrects the estimate by what the provider counted. A fallback counts in other
// tokens.
func (r *Runtime) calibrate(t *task, from model.Info, u *model.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if u != nil && from.Model == r.model.Info().Model {
		t.talk.hist.Calibrate(u.Prompt)
	}
}

// cost is what a task cost so far.
func (r *Runtime) cost(t *task) model.Money {
	r.mu.Lock()
	defer r.mu.Unlock()
	return t.use.cost
}

// checkBudget says which budget of a task is used up, "" for none. It warns once of each
// that soon will be (B29).
func (r *Runtime) checkBudget(t *task) event.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spent(t, event.TurnBudget, int64(t.turns), int64(r.opts.MaxTurns)) {
		t.talk.pending = t.talk.branch == 0 // nobody could continue another one
		r.emit(t.id, 0, event.MaxTurnsReached{Task: t.id, Turns: r.opts.MaxTurns})
		return event.MaxTurns
	}
	if r.spent(t, event.CostBudget, int64(t.use.cost), int64(r.opts.MaxCost)) {
		return event.MaxCost
	}
	return ""
}

// spent reports whether a budget is used up; 0 is no limit. The caller holds r.mu.
func (r *Runtime) spent(t *task, kind event.BudgetKind, used, limit int64) bool {
	switch {
	case limit <= 0:
	case used >= limit:
		r.emit(t.id, 0, event.BudgetExceeded{Kind: kind, Used: used, Limit: limit, TopTools: t.use.top()})
		return true
	case used >= limit-limit/5 && !t.use.warned[kind]:
		if t.use.warned == nil {
			t.use.warned = make(map[event.BudgetKind]bool)
		}
		t.use.warned[kind] = true
		r.emit(t.id, 0, event.BudgetWarning{Kind: kind, Used: used, Limit: limit, TopTools: t.use.top()})
	}
	return false
}
