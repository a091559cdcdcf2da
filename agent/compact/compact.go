// Package compact keeps conversations within the window of their model: it clears old
// results, replaces old messages by a summary, a digest or nothing, and says when nothing
// more may be sent.
//
// Its invariant: a window that is only assumed removes no message before the provider says that
// a request was too long. Nothing that it asks a model is in a history.
//
//	c := compact.New(settings.Context{}.WithDefaults(), compact.Parts{…})
//	fitting, did := c.Fit(ctx, work, turn)
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

// Parts holds what a Compactor works with. All but Redact are required.
type Parts struct {
	Stream    *stream.Stream
	Approvals *approval.Broker // files are read again only where it allows that without asking
	Ledger    *usage.Ledger
	Selection *selection.Selection
	Most      action.Mode // the loosest mode in which files are read again; "" is no limit
	Redact    *redact.Redactor
	Hooks     *hooks.Runner // asked before a compaction; nil: none
	ReadTime  time.Duration // that reading one file again may take
}

// Compactor makes room in conversations. It is safe for concurrent use, on different
// conversations; use New.
type Compactor struct {
	o settings.Context
	p Parts

	told *told
}

// told holds the notices that told of a window that is not known. It is safe for concurrent use.
type told struct {
	mu  sync.Mutex // guards all
	all map[string]bool
}

// New returns a compactor. o has its defaults.
func New(o settings.Context, p Parts) *Compactor {
	return &Compactor{o: o, p: p, told: &told{all: make(map[string]bool)}}
}

// For returns a compactor for a subagent with a model and tools of its own, and for the loosest mode
// in which it reads files again.
func (c *Compactor) For(s *selection.Selection, most action.Mode) *Compactor {
	other := *c
	other.p.Selection, other.p.Most = s, most
	return &other
}

// Room holds what the compactions of one conversation came to. It is safe for concurrent use; the zero
// value is ready.
type Room struct {
	mu       sync.Mutex   // guards all below
	asked    bool         // a person wants one before the next request
	wanted   string       // what they want of its summary, then of that of the last one; "" nothing
	manual   bool         // a person wanted the last one
	refused  bool         // a hook did not want it
	failures int          // summaries that failed in a row
	turns    []int        // of the last automatic compactions
	warned   int          // the task in which a person was warned last that the context fills up
	grade    event.Health // of that warning
}

// Ask asks for a compaction before the next request; wanted says what the person wants of the
// summary, "" nothing.
func (m *Room) Ask(wanted string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked, m.wanted = true, wanted
}

// Retry lets summaries be tried again that failed too often.
func (m *Room) Retry() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = 0
}

// Asked reports whether a compaction was asked for and has not begun.
func (m *Room) Asked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// takeAsked reports whether a compaction was asked for, which begins now.
func (m *Room) takeAsked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.manual, m.asked = m.asked, false
	if !m.manual {
		m.wanted = ""
	}
	return m.manual
}

// Trigger returns what began the last compaction: manual or auto.
func (m *Room) Trigger() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.manual {
		return "manual"
	}
	return "auto"
}

// Wanted returns what a person wanted of the summary of the last compaction, "" nothing.
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

// refuse notes whether a hook refused a compaction.
func (m *Room) refuse(refused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = refused
}

// summarised counts how summaries went.
func (m *Room) summarised(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failures++; err == nil {
		m.failures = 0
	}
}

// fails reports whether the last summary failed.
func (m *Room) fails() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failures > 0
}

// warns reports whether a grade calls for a warning in a task, which had none of it yet.
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

const (
	maxSummaryFailures = 3 // in a row; then summaries are left alone
	thrashTurns        = 3 // this many compactions, each so many turns after the last, are too many
)

// thrashes reports whether compacting has not helped lately. The caller holds m.mu.
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

// Work is a task that needs room in its conversation.
type Work struct {
	Task int
	Conv *conversation.Conversation
	Room *Room
	Used *usage.Task // that summaries are counted for
}

// Fitting reports what came of making room.
type Fitting uint8

// What comes of making room.
const (
	Fits  Fitting = iota
	Moved         // the history was compacted; look again
	Full          // nothing may be sent
)

// Fit makes room for the request of a turn. What it compacted is nil unless the history
// Moved. If the provider finds the request too long nevertheless, Overflowed makes room then.
func (c *Compactor) Fit(ctx context.Context, w Work, turn int) (Fitting, *event.ContextCompacted) {
	window, known := c.p.Selection.Window()
	if c.o.Strategy != settings.Keep {
		w.Conv.ClearOld(w.Task, known && w.Conv.Tokens() >= percent(window, c.o.HintAt))
	}
	asked := c.due(w, turn) // and so are the hooks
	if asked {
		if did := c.Condense(ctx, w); did != nil {
			return Moved, did
		}
	}
	if ctx.Err() != nil {
		return Fits, nil // the next look at ctx ends it
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
		c.tellUnknownWindow()
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

// warn tells a person that a context fills up, once in a task for each grade that calls for something.
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

// nextStep says what a person can do about a context of a grade, "" for one that is healthy.
func nextStep(grade event.Health) string {
	if grade == event.Healthy {
		return ""
	}
	return "/compact replaces old exchanges with a summary (/pin keeps one as it is), /session new starts again"
}

// unknownWindow is the code of the notice about a model whose window is not known.
const unknownWindow = "window"

// tellUnknownWindow tells a person, once for a model in a session, that compaction waits for
// its server.
func (c *Compactor) tellUnknownWindow() {
	info := c.p.Selection.Model().Info()
	where := "the profile " + info.Profile
	if !model.HasSection(info.Profile, info.Model) {
		where = "a profile for it"
	}
	text := fmt.Sprintf("the context window of %s is unknown · context_limit in %s sets it", info.Model, where)
	c.told.mu.Lock()
	defer c.told.mu.Unlock()
	if info.API == model.Demo || c.told.all[text] {
		return
	}
	c.told.all[text] = true
	c.p.Stream.Publish(0, 0, event.Notice{Text: text, Code: unknownWindow}) // of the session: on a branch nobody would see it
}

// Replay feeds a stored event of an earlier process.
func (c *Compactor) Replay(e event.Event) {
	if p, ok := e.(event.Notice); ok && p.Code == unknownWindow {
		c.told.mu.Lock()
		defer c.told.mu.Unlock()
		c.told.all[p.Text] = true
	}
}

// Percent returns how much of a window is used, rounded: the one figure that people see.
func Percent(used, window int) int { return (used*100 + window/2) / window }

func fill(used, window int) string {
	return fmt.Sprintf("%d%%, about %d of %d tokens", Percent(used, window), used, window)
}

// PublishUsage reports how full a conversation is, as an event of a task and a turn.
func (c *Compactor) PublishUsage(talk *conversation.Conversation, task, turn int) {
	u := event.ContextUsage{Estimated: talk.Tokens(), Limit: c.p.Selection.KnownWindow()}
	if u.Limit > 0 {
		u.Percent = Percent(u.Estimated, u.Limit)
		u.Health = health(c.o, u.Estimated, u.Limit)
		u.NextStep = nextStep(u.Health)
	}
	c.p.Stream.Publish(task, turn, u)
}

// due reports whether old messages should go before the request of a turn.
func (c *Compactor) due(w Work, turn int) bool {
	window, known := c.p.Selection.Window()
	used := w.Conv.Tokens()
	m := w.Room
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked {
		return true
	}
	if !known || !c.over(w, used, window) {
		return false
	}
	if m.failures >= maxSummaryFailures {
		return false
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

// over reports whether a conversation has more than the strategy lets stand: tokens, or messages.
func (c *Compactor) over(w Work, used, window int) bool {
	switch c.o.Strategy {
	case settings.Summary:
		return used > percent(window, c.o.CompactAt)
	case settings.Window:
		return used > percent(window, c.o.CompactAt) || len(w.Conv.Messages()) > messageFactor*c.o.KeepMessages
	}
	return false
}

// messageFactor times the messages that the strategy Window keeps may collect before it compacts.
const messageFactor = 2

// Condense replaces old messages as the strategy says, and returns what it did; nil when the
// history is not shorter now. Without a summary that can be had it is the digest, when a
// compaction was asked for.
func (c *Compactor) Condense(ctx context.Context, w Work) *event.ContextCompacted {
	return c.condense(ctx, w, false)
}

// condense is Condense. overflowed means that the provider has found a request too long: then even the newest results may
// go, and no summary is asked for that has just failed.
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
	messages := 0
	if c.o.Strategy == settings.Window {
		messages = c.o.KeepMessages
	}
	plan := w.Conv.PlanCut(tail, messages)
	summarise := c.o.Strategy == settings.Summary && c.p.Selection.Model().Info().API != model.Demo && (!overflowed || !w.Room.fails())
	switch {
	case summarise && len(plan.Removed) > 0:
		c.begins(w, BySummary)
		if err := c.summarise(ctx, w, &plan); err == nil {
			return c.cut(w, BySummary, plan)
		}
	case c.o.Strategy == settings.Window && len(plan.Removed) > 0:
		c.begins(w, ByWindow)
		return c.cut(w, ByWindow, plan)
	}
	if !asked || ctx.Err() != nil {
		return nil
	}
	return c.digest(ctx, w, percent(min(window, w.Conv.Tokens()), c.o.ManualTo), true, overflowed)
}

// The ways to compact without a digest.
const (
	BySummary = "summary"
	ByWindow  = "window"
)

// begins marks that a compaction begins.
func (c *Compactor) begins(w Work, by string) {
	c.p.Stream.Publish(w.Task, 0, event.ContextCompacting{By: by, Focus: w.Room.Wanted()})
}

// digest replaces old exchanges by lines about them, down to so many tokens, and returns what it did; nil when
// nothing can go, or a hook is against it. told means that the hooks were asked already, all that the newest results may go as well.
func (c *Compactor) digest(ctx context.Context, w Work, target int, told, all bool) *event.ContextCompacted {
	if !conversation.Digestible(w.Conv, target, all) {
		return nil
	}
	if !told {
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

// blocked asks the hooks whether there may be a compaction, and says when there may be none.
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

// cut makes a cut that was planned.
func (c *Compactor) cut(w Work, by string, plan conversation.Plan) *event.ContextCompacted {
	e, err := w.Conv.Cut(w.Task, by, plan)
	if err != nil {
		c.p.Stream.Publish(w.Task, 0, event.Error{Text: "the context was not compacted: " + err.Error(), Code: "context", Task: w.Task})
		return nil
	}
	return &e
}

// Overflowed makes room because the provider said that a request was too long, and returns
// what it did; nil when the same request would be sent again.
func (c *Compactor) Overflowed(ctx context.Context, w Work) *event.ContextCompacted {
	if c.o.Strategy == settings.Keep {
		return nil
	}
	w.Room.Ask("")
	return c.condense(ctx, w, true)
}
