package agent

import (
	"context"
	"errors"
	"fmt"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/model/limits"
)

// gauge tells a history what it needs for its estimate.
func (r *Runtime) gauge(h *history.History) {
	chars := 0
	for _, d := range r.opts.Tools.Definitions() {
		chars += len(d.Name) + len(d.Description) + len(d.Parameters)
	}
	h.SetFixed(chars)
	h.SetModel(r.model.Info().Model)
}

// window returns the model's window in tokens, and whether it is known or only assumed.
// The caller holds r.mu.
func (r *Runtime) window() (tokens int, known bool) {
	if w := r.model.Info().Window; w > 0 {
		return w, true
	}
	return limits.Default, false
}

// percent returns a part of a window, at least one token (B02).
func percent(window, part int) int { return max(1, window/100*part+window%100*part/100) }

// room is what a conversation knows of its compactions. Runtime.mu guards it.
type room struct {
	asked    bool  // a person wants one before the next request
	failures int   // summaries that failed in a row
	turns    []int // of the last automatic compactions
	warned   int   // the task in which a person was told that the context fills up
}

const (
	maxSummaryFailures = 3 // in a row; then summaries are left alone (B24)
	thrashTurns        = 3 // this many compactions, each so many turns after the last, are too many
	maxOverflows       = 3 // how often an exchange makes room because the provider said so (A34)
)

// thrashes reports whether compacting has not helped lately (B24).
func (m *room) thrashes(turn int) bool {
	n := len(m.turns)
	if n < thrashTurns || turn-m.turns[n-1] > thrashTurns {
		return false
	}
	for i := n - thrashTurns + 1; i < n; i++ {
		if m.turns[i]-m.turns[i-1] > thrashTurns {
			return false
		}
	}
	return true
}

// fitting is what came of making room.
type fitting uint8

const (
	fits  fitting = iota
	moved         // the history was compacted; look again
	full          // nothing may be sent
)

// fit makes room for the next request (B02, B03). A window that is only assumed stops and
// removes nothing: the model may well take more. If it does not, its provider says so, and
// then room is made (A34).
func (r *Runtime) fit(ctx context.Context, t *task) fitting {
	r.clearOld(t)
	if r.dueForCompaction(t) && r.condense(ctx, t) {
		return moved
	}
	if ctx.Err() != nil {
		return fits // the next look at ctx ends it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c, o := t.talk, r.opts.Context
	window, known := r.window()
	if known && c.hist.Tokens() >= percent(window, o.Hard) && o.Strategy != Keep && r.digest(t, percent(window, o.Target)) {
		return moved
	}
	used := c.hist.Tokens()
	if used >= percent(window, o.Hard) && known {
		r.emit(t.id, 0, event.Error{
			Text: "the context is full, nothing was sent: " + fill(used, window), Code: "context_limit", Task: t.id,
			NextStep: "/session new, or context_limit in the profile if the model takes more",
		})
		return full
	}
	switch {
	case !known:
		r.tellUnknownWindow()
	case used >= percent(window, o.Warn) && c.room.warned != t.id:
		c.room.warned = t.id
		r.emit(t.id, 0, event.Warning{Text: "the context is filling up: " + fill(used, window), Code: "context", NextStep: "/compact or /session new"})
	}
	c.hist.Sent()
	return fits
}

// unknownWindow is the code of the notice that says that a window is not known.
const unknownWindow = "window"

// tellUnknownWindow tells a person, once for a model in a session, that compaction waits for
// its server. The caller holds r.mu.
func (r *Runtime) tellUnknownWindow() {
	info := r.model.Info()
	text := fmt.Sprintf("the context window of %s is not known: the conversation is compacted when the server says that it is too long; context_limit in the profile %s sets it",
		info.Model, info.Profile)
	if info.API == model.Demo || r.unmeasured[text] {
		return
	}
	r.unmeasured[text] = true
	r.emit(0, 0, event.Notice{Text: text, Code: unknownWindow}) // of the session: on a branch nobody would see it
}

func fill(used, window int) string {
	return fmt.Sprintf("%.1f %%, about %d of %d tokens", float64(used)*100/float64(window), used, window)
}

// health says how urgent a use of the window is (B16).
func (o Context) health(used, window int) event.Health {
	switch {
	case window == 0 || used < percent(window, o.Hint):
		return event.Healthy
	case used >= percent(window, o.Critical):
		return event.Critical
	case used >= percent(window, o.Warn):
		return event.Warned
	default:
		return event.Hint
	}
}

// clearOld takes out results that no longer matter (B22).
func (r *Runtime) clearOld(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	window, known := r.window()
	if o := r.opts.Context; !known || o.Strategy == Keep || t.talk.hist.Tokens() < percent(window, o.Hint) {
		return
	}
	if ids := t.talk.hist.MicroCompact(); len(ids) > 0 {
		r.emit(t.id, 0, event.MicroCompacted{CallIDs: ids})
	}
}

// dueForCompaction reports whether old messages should go before the next request.
func (r *Runtime) dueForCompaction(t *task) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, o := &t.talk.room, r.opts.Context
	if m.asked {
		return true
	}
	window, known := r.window()
	if !known || o.Strategy != Summary && o.Strategy != Window || t.talk.hist.Tokens() <= percent(window, o.Compact) {
		return false
	}
	if m.failures >= maxSummaryFailures {
		return false
	}
	if m.thrashes(r.ids.turn) {
		m.failures = maxSummaryFailures
		r.emit(t.id, 0, event.Warning{
			Text: "compacting no longer helps: the context is full again after a few turns", Code: "context",
			NextStep: "/session new, or ask for less at once",
		})
		return false
	}
	m.turns = append(m.turns, r.ids.turn)
	if len(m.turns) > thrashTurns {
		m.turns = m.turns[1:]
	}
	return true
}

// condense replaces old messages as the strategy says, and reports whether the history
// is shorter now. Without a summary that can be had it is the digest, when a person asked.
func (r *Runtime) condense(ctx context.Context, t *task) bool {
	r.mu.Lock()
	c, o := t.talk, r.opts.Context
	asked := c.room.asked
	c.room.asked = false
	window, _ := r.window()
	tail := percent(window, o.Tail)
	if asked {
		tail = min(tail, percent(c.hist.Tokens(), o.Tail))
	}
	messages := 0
	if o.Strategy == Window {
		messages = o.Messages
	}
	cut, old := c.hist.Older(tail, messages)
	before := c.hist.Tokens()
	summarise := o.Strategy == Summary && r.model.Info().API != model.Demo
	r.mu.Unlock()

	switch {
	case summarise && len(old) > 0:
		if err := r.summarise(ctx, t, &cut, old); err == nil {
			return r.replace(ctx, t, "summary", cut, len(old), before)
		}
	case o.Strategy == Window && len(old) > 0:
		return r.replace(ctx, t, "window", cut, len(old), before)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return asked && ctx.Err() == nil && r.digest(t, percent(min(window, c.hist.Tokens()), o.Manual))
}

// replace applies a cut that was planned.
func (r *Runtime) replace(ctx context.Context, t *task, by string, cut history.Cut, removed, before int) bool {
	r.mu.Lock()
	h := t.talk.hist
	turns := h.Turns(cut)
	if err := h.Apply(cut); err != nil {
		r.mu.Unlock()
		r.emit(t.id, 0, event.Error{Text: "the context was not compacted: " + err.Error(), Code: "context", Task: t.id})
		return false
	}
	after := h.Tokens()
	r.emit(t.id, 0, event.ContextCompacted{
		By: by, Summary: cut.Summary, Restored: cut.Restored, Before: before, After: after,
		Removed: removed, Turns: turns, Boundary: cut.Boundary, Kept: cut.Kept,
	})
	t.compacted = &CompactionOccurred{OldTokens: before, NewTokens: after}
	r.guide.stale, t.talk.date = true, ""
	r.mu.Unlock()
	r.tell(ctx, t, ContextCompaction{OldTokens: before, NewTokens: after})
	return true
}

// digest replaces old exchanges by lines about them (B05–B08) and reports whether there
// were any. The caller holds r.mu.
func (r *Runtime) digest(t *task, target int) bool {
	c := t.talk.hist.Compact(target)
	if c.Messages == 0 {
		return false
	}
	r.emit(t.id, 0, event.ContextCompacted{
		By: "digest", Summary: c.Summary, Before: c.Before, After: c.After,
		Removed: c.Messages, Turns: c.Turns, Boundary: c.Boundary, Kept: c.Kept,
	})
	t.compacted = &CompactionOccurred{OldTokens: c.Before, NewTokens: c.After}
	r.guide.stale, t.talk.date = true, ""
	return true
}

// overflowed makes room because the provider said that the request was too long, and
// reports whether it is worth sending again (A34).
func (r *Runtime) overflowed(ctx context.Context, t *task, err error) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.ContextError || t.overflows == maxOverflows || r.opts.Context.Strategy == Keep {
		return false
	}
	if errors.Is(err, errFull) {
		t.overflows = maxOverflows - 1 // once: what does not help now will not later
	}
	t.overflows++
	r.mu.Lock()
	t.talk.room.asked = true
	r.mu.Unlock()
	return r.condense(ctx, t)
}

// compactNow does what a person asked for, at once or before the next request of what
// runs.
func (r *Runtime) compactNow() {
	if err := r.stream.ReadOnly(); err != nil {
		r.reject("nothing was compacted, because it can't be recorded: %v", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.main
	c.room.asked, c.room.failures = true, 0
	if c.task != nil {
		r.emit(c.task.id, 0, event.Notice{Text: "the context is compacted before the next request", Code: "compact"})
		return
	}
	r.startTask(c, event.CompactionTask, nil, r.compaction)
}

// compaction is the work of a task that only compacts.
func (r *Runtime) compaction(ctx context.Context, t *task) (event.Outcome, error) {
	did := r.condense(ctx, t)
	switch {
	case ctx.Err() != nil:
		return event.Cancelled, nil
	case !did:
		r.emit(t.id, 0, event.Notice{Text: "nothing to compact: the newest messages, recent failures and what is pinned stay", Code: "compact"})
	default:
		r.emitUsage(t, 0)
	}
	return event.Completed, nil
}
