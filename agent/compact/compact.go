// Package compact shortens conversations so that they fit into the context window of their model.
//
// A [Compactor] clears old tool results. If this is not enough, it drops old messages, or replaces them with a summary
// by the model or with a digest, which has one line per operation. If the conversation still does not fit, Fit returns
// Full, and nothing may be sent.
//
// If the size of the context window is only a guess, no message is removed until the provider has rejected a request as
// too long.
//
//	c := compact.New(settings.Context{}.WithDefaults(), compact.Parts{…})
//	fitting, compacted := c.Fit(ctx, work, turn)
package compact

import (
	"context"
	"fmt"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/hooks"
	"buddy/agent/model"
	"buddy/agent/redact"
	"buddy/agent/selection"
	"buddy/agent/settings"
	"buddy/agent/stream"
	"buddy/agent/usage"
)

// Parts holds the dependencies of a Compactor. All but Own, Redact and Hooks are required.
type Parts struct {
	Own       Strategy // replaces summaries; nil: the strategy of the settings
	Stream    *stream.Stream
	Approvals *approval.Broker // only files that it allows without asking are read again
	Ledger    *usage.Ledger
	Selection *selection.Selection
	Most      action.Mode // loosest mode for reading files again; "" is no limit
	Redact    *redact.Redactor
	Hooks     *hooks.Runner // asked before a compaction; may be nil
	ReadTime  time.Duration // for reading one file again
}

// Compactor makes room in conversations. It is safe for concurrent use on different conversations; use New.
type Compactor struct {
	o settings.Context
	p Parts

	warned *warnings
}

// warnings remembers for which models the user has been warned that the context window is unknown. It is safe for
// concurrent use.
type warnings struct {
	mu  sync.Mutex // guards all
	all map[string]bool
}

// New returns a compactor. The caller must have filled in the defaults of o.
func New(o settings.Context, p Parts) *Compactor {
	return &Compactor{o: o, p: p, warned: &warnings{all: make(map[string]bool)}}
}

// For returns a compactor for a subagent with its own model and tools. most is the loosest mode that may apply when the
// compactor reads files again.
func (c *Compactor) For(s *selection.Selection, most action.Mode) *Compactor {
	other := *c
	other.p.Selection, other.p.Most = s, most
	return &other
}

// Room holds the state of one conversation's compactions. It is safe for concurrent use; the zero value is ready.
type Room struct {
	mu       sync.Mutex   // guards the fields below
	asked    bool         // a compaction was requested and has not started
	wanted   string       // the person's wishes for the next or last summary; "" for none
	manual   bool         // a person or the provider requested the last one
	refused  bool         // a hook refused the last one
	failures int          // failed summaries in a row
	turns    []int        // of the last automatic compactions
	looked   int          // 1 + the turns before the request for which the strategy was asked last
	warned   int          // the task of the last warning about the context
	grade    event.Health // of that warning
}

// Ask requests a compaction before the next request to the model. wanted is what the user wants in the summary, or "".
func (m *Room) Ask(wanted string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked, m.wanted = true, wanted
}

// Retry allows automatic compactions again after they were given up because they failed or did not help.
func (m *Room) Retry() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = 0
}

// Asked reports whether a requested compaction has not started yet.
func (m *Room) Asked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// takeAsked marks the start of a compaction, and reports whether it was requested.
func (m *Room) takeAsked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.manual, m.asked = m.asked, false
	if !m.manual {
		m.wanted = ""
	}
	return m.manual
}

// Trigger returns what started the last compaction: manual or auto.
func (m *Room) Trigger() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.manual {
		return "manual"
	}
	return "auto"
}

// Wanted returns what the user wanted in the last summary, or "".
func (m *Room) Wanted() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wanted
}

// Refused reports whether a hook refused the last compaction.
func (m *Room) Refused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused
}

func (m *Room) refuse(refused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = refused
}

// summarised records the outcome of a summary, to count failures in a row.
func (m *Room) summarised(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failures++; err == nil {
		m.failures = 0
	}
}

func (m *Room) fails() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failures > 0
}

// warns reports whether to warn a task that the context is filling up, which happens once per grade, and records it.
func (m *Room) warns(task int, grade event.Health) bool {
	if grade != event.Warned && grade != event.Critical {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.warned != task || m.grade == event.Warned && grade == event.Critical
	if first {
		m.warned, m.grade = task, grade
	}
	return first
}

// first reports whether this is its first call before the request of a turn, because a strategy is asked only once per
// request. The caller holds m.mu.
func (m *Room) first(turn int) bool {
	first := m.looked != turn+1
	m.looked = turn + 1
	return first
}

const (
	maxSummaryFailures = 3 // in a row; after that no summary is tried
	thrashTurns        = 3 // this many compactions, with at most this many turns between them, are too many
)

// thrashes reports whether the last compactions were so close together that another would not help. The caller holds
// m.mu.
func (m *Room) thrashes(turn int) bool {
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

// Work is a conversation that needs room, and the task that it belongs to.
type Work struct {
	Task int
	Conv *conversation.Conversation
	Room *Room
	Used *usage.Task // counts the summaries
}

// Fitting tells whether the next request fits into the context window.
type Fitting uint8

// The results of Fit.
const (
	Fits  Fitting = iota
	Moved         // the history was compacted; check again
	Full          // nothing may be sent
)

// Fit makes room for the request of a turn. If it had to remove messages, it returns Moved and the compaction. If the
// provider still finds the request too long, call Overflowed.
func (c *Compactor) Fit(ctx context.Context, w Work, turn int) (Fitting, *event.ContextCompacted) {
	window, known := c.p.Selection.Window()
	if c.o.Strategy != settings.Keep && !c.o.KeepResults {
		w.Conv.ClearOld(w.Task, known && w.Conv.Tokens() >= percent(window, c.o.HintAt))
	}
	asked := c.due(w, turn) // if true, Condense asks the hooks
	if asked {
		if did := c.Condense(ctx, w); did != nil {
			return Moved, did
		}
	}
	if ctx.Err() != nil {
		return Fits, nil // the caller checks ctx next
	}
	window, known = c.p.Selection.Window()
	if known && w.Conv.Tokens() >= percent(window, c.o.HardAt) && c.o.Strategy != settings.Keep {
		if did := c.digest(ctx, w, percent(window, c.o.CompactTo), asked, true); did != nil {
			return Moved, did
		}
		if ctx.Err() != nil {
			return Fits, nil
		}
	}
	used := w.Conv.Tokens()
	switch {
	case !known:
		c.warnUnknownWindow()
	case used >= percent(window, c.o.HardAt):
		c.p.Stream.Publish(w.Task, 0, event.Error{
			Text: "the context is full, so nothing was sent: " + fill(used, window), Code: "context_limit", Task: w.Task,
			NextStep: "/rewind removes the last prompt, /session new starts again; set context_limit in the profile if the model takes more",
		})
		return Full, nil
	default:
		c.warn(w, used, window)
	}
	w.Conv.Sent()
	return Fits, nil
}

// warn warns the user that the context is filling up, once per task and grade.
func (c *Compactor) warn(w Work, used, window int) {
	grade := health(c.o, used, window)
	if !w.Room.warns(w.Task, grade) {
		return
	}
	text := "the context is filling up: "
	if grade == event.Critical {
		text = "the context is nearly full: "
	}
	c.p.Stream.Publish(w.Task, 0, event.Warning{Text: text + fill(used, window), Code: "context", NextStep: nextStep(grade)})
}

// nextStep tells the user what to do about a context of this grade; "" if it is healthy.
func nextStep(grade event.Health) string {
	if grade == event.Healthy {
		return ""
	}
	return "/compact replaces old exchanges with a summary (/pin keeps one as it is), /session new starts again"
}

// unknownWindow is the Code of notices about an unknown context window.
const unknownWindow = "window"

// warnUnknownWindow notifies the user that the context window is unknown, once per session and model.
func (c *Compactor) warnUnknownWindow() {
	info := c.p.Selection.Model().Info()
	where := "the profile " + info.Profile
	if !model.HasSection(info.Profile, info.Model) {
		where = "a profile for it"
	}
	text := fmt.Sprintf("the context window of %s is unknown · context_limit in %s sets it", info.Model, where)
	c.warned.mu.Lock()
	defer c.warned.mu.Unlock()
	if info.API == model.Demo || c.warned.all[text] {
		return
	}
	c.warned.all[text] = true
	c.p.Stream.Publish(0, 0, event.Notice{Text: text, Code: unknownWindow}) // on the main branch, because screens hide it on others
}

// Replay processes a stored event, so that a resumed session does not repeat notices about unknown context windows.
func (c *Compactor) Replay(e event.Event) {
	if p, ok := e.(event.Notice); ok && p.Code == unknownWindow {
		c.warned.mu.Lock()
		defer c.warned.mu.Unlock()
		c.warned.all[p.Text] = true
	}
}

// Percent returns how much of the window is used, as a rounded percentage.
func Percent(used, window int) int { return (used*100 + window/2) / window }

func fill(used, window int) string {
	return fmt.Sprintf("%d%%, about %d of %d tokens", Percent(used, window), used, window)
}

// PublishUsage publishes an event that says how full the context window is.
func (c *Compactor) PublishUsage(conv *conversation.Conversation, task, turn int) {
	u := event.ContextUsage{Estimated: conv.Tokens(), Limit: c.p.Selection.KnownWindow()}
	if u.Limit > 0 {
		u.Percent = Percent(u.Estimated, u.Limit)
		u.Health = health(c.o, u.Estimated, u.Limit)
		u.NextStep = nextStep(u.Health)
	}
	c.p.Stream.Publish(task, turn, u)
}

// due reports whether the conversation should be compacted before the request of a turn, because somebody asked for it
// or the context is too full.
func (c *Compactor) due(w Work, turn int) bool {
	window, known := c.p.Selection.Window()
	used := w.Conv.Tokens()
	m := w.Room
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked {
		return true
	}
	own := c.own()
	if m.failures >= maxSummaryFailures || own == nil && (!known || c.o.Strategy != settings.Summary || used <= percent(window, c.o.CompactAt)) {
		return false
	}
	if own != nil { // removing messages costs nothing, so it may happen before each request; once, because it may not help
		return m.first(turn) && own.ShouldCompact(c.state(w))
	}
	if m.thrashes(turn) {
		m.failures = maxSummaryFailures
		c.p.Stream.Publish(w.Task, 0, event.Warning{
			Text: "compacting no longer helps: the context is full again after a few turns", Code: "context",
			NextStep: "/session new, or ask for less at a time",
		})
		return false
	}
	m.turns = append(m.turns, turn)
	if len(m.turns) > thrashTurns {
		m.turns = m.turns[1:]
	}
	return true
}

// Condense shortens the conversation with the configured strategy, and returns the compaction; nil if the history is
// not shorter. If the strategy fails or removes nothing, and a compaction was requested, it uses a digest.
func (c *Compactor) Condense(ctx context.Context, w Work) *event.ContextCompacted {
	return c.condense(ctx, w, false)
}

// condense implements Condense. overflowed means that the provider rejected a request as too long: then even the newest
// results may be removed, and no summary is tried if the last one failed.
func (c *Compactor) condense(ctx context.Context, w Work, overflowed bool) *event.ContextCompacted {
	asked := w.Room.takeAsked()
	if c.blocked(ctx, w) {
		return nil
	}
	window, _ := c.p.Selection.Window()
	tail := percent(window, c.o.Keep)
	if asked {
		tail = min(tail, percent(w.Conv.Tokens(), c.o.Keep))
	}
	if own := c.own(); own != nil {
		if did := c.apply(ctx, w, own, asked); did != nil || !asked || ctx.Err() != nil {
			return did
		}
		return c.digest(ctx, w, percent(min(window, w.Conv.Tokens()), c.o.ManualTo), true, overflowed)
	}
	plan := w.Conv.PlanCut(tail, 0)
	summarise := c.o.Strategy == settings.Summary && c.p.Selection.Model().Info().API != model.Demo && (!overflowed || !w.Room.fails())
	if summarise && len(plan.Removed) > 0 {
		c.begins(w, BySummary)
		if err := c.summarise(ctx, w, &plan); err == nil {
			return c.cut(w, BySummary, plan)
		}
	}
	if !asked || ctx.Err() != nil {
		return nil
	}
	return c.digest(ctx, w, percent(min(window, w.Conv.Tokens()), c.o.ManualTo), true, overflowed)
}

// The values of By for compactions other than by digest.
const (
	BySummary  = "summary"
	ByWindow   = "window"
	ByStrategy = "strategy" // of a program that uses the runtime as a library
)

// begins announces a compaction with an event.
func (c *Compactor) begins(w Work, by string) {
	c.p.Stream.Publish(w.Task, 0, event.ContextCompacting{By: by, Focus: w.Room.Wanted()})
}

// digest replaces old exchanges with one line per operation until the history has at most target tokens, and returns
// the compaction, or nil if nothing can be removed or a hook refuses. asked means that the hooks have already been
// asked; all means that even the newest results may be removed.
func (c *Compactor) digest(ctx context.Context, w Work, target int, asked, all bool) *event.ContextCompacted {
	if !conversation.Digestible(w.Conv, target, all) {
		return nil
	}
	if !asked {
		w.Room.takeAsked()
		c.blocked(ctx, w)
	}
	if w.Room.Refused() || ctx.Err() != nil {
		return nil
	}
	c.begins(w, conversation.ByDigest)
	if w.Room.Wanted() != "" {
		c.p.Stream.Publish(w.Task, 0, event.Notice{Text: "your instructions for the summary were not used: no model wrote one", Code: "compact"})
	}
	e, ok := w.Conv.Digest(w.Task, target, all)
	if !ok {
		return nil
	}
	return &e
}

// blocked runs the hooks that may refuse a compaction, and tells the user about a refusal. It reports whether the
// compaction must not happen, because of a refusal or because ctx has ended.
func (c *Compactor) blocked(ctx context.Context, w Work) bool {
	mode, _ := c.p.Approvals.Mode()
	m := c.p.Hooks.Tell(ctx, hooks.Where{Task: w.Task, Mode: mode}, hooks.PreCompact, w.Room.Trigger(), map[string]any{"trigger": w.Room.Trigger(), "custom_instructions": w.Room.Wanted()})
	w.Room.refuse(m.BlockedBy != "")
	if m.BlockedBy == "" {
		return ctx.Err() != nil
	}
	c.p.Stream.Publish(w.Task, 0, event.Notice{Text: "nothing was compacted: the hook " + m.BlockedBy + " says: " + m.Blocked, Code: "hook"})
	return true
}

// cut removes the messages that the plan selects. If that fails, it publishes an error and returns nil.
func (c *Compactor) cut(w Work, by string, plan conversation.Plan) *event.ContextCompacted {
	e, err := w.Conv.Cut(w.Task, by, plan)
	if err != nil {
		c.p.Stream.Publish(w.Task, 0, event.Error{Text: "the context was not compacted: " + err.Error(), Code: "context", Task: w.Task})
		return nil
	}
	return &e
}

// Overflowed makes room after the provider has rejected a request as too long, and returns the compaction, or nil if
// the history did not change.
func (c *Compactor) Overflowed(ctx context.Context, w Work) *event.ContextCompacted {
	if c.o.Strategy == settings.Keep {
		return nil
	}
	w.Room.Ask("")
	return c.condense(ctx, w, true)
}
