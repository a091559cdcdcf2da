package compact

import (
	"context"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/settings"
)

// Strategy decides when a conversation is compacted, and what remains of it. [Sliding] implements it; the other
// strategies of [settings.Strategy] are part of the Compactor, because they use the model. The methods are called from
// one goroutine per conversation, before a request.
type Strategy interface {
	// ShouldCompact reports whether to remove old messages before the next request. It is called at most once per
	// request.
	ShouldCompact(now State) bool
	// Compact returns what to keep. It is also called when the user requests a compaction or the provider finds a
	// request too long. An error removes nothing; after three errors in a row the strategy is not called until the user
	// requests a compaction.
	Compact(ctx context.Context, now State) (Kept, error)
}

// State describes a conversation before a request. It must not be changed.
type State struct {
	Messages []model.Message
	Tokens   int // estimated, with the tools
	Window   int // of the model, in tokens; 0 is unknown
}

// Kept describes which part of a conversation to keep: the newest messages, at most Messages of them with at most
// Tokens tokens; 0 means no limit. Calls are kept together with their results. The first prompt, pinned messages, and
// the last answer with its results are always kept.
type Kept struct {
	Messages int
	Tokens   int
	Summary  string // replaces the removed messages, and an earlier summary; "" for none
}

// Sliding keeps the newest messages and drops the others.
type Sliding struct {
	Messages int // number of messages that Compact keeps; a compaction is due when there are more than twice as many
	Tokens   int // a compaction is due above this number; Compact keeps Keep percent of it
	Keep     int // percentage of Tokens
}

// ShouldCompact reports whether there are too many messages or tokens.
func (s Sliding) ShouldCompact(now State) bool {
	return now.Tokens > s.Tokens || len(now.Messages) > messageFactor*s.Messages
}

// Compact keeps the newest messages. It returns no error.
func (s Sliding) Compact(context.Context, State) (Kept, error) {
	return Kept{Messages: s.Messages, Tokens: percent(s.Tokens, s.Keep)}, nil
}

// messageFactor times Sliding.Messages is the number of messages above which a compaction is due.
const messageFactor = 2

// own returns the strategy that is used instead of summaries, or nil if none is.
func (c *Compactor) own() Strategy {
	if c.p.Own != nil || c.o.Strategy != settings.Window {
		return c.p.Own
	}
	window := c.p.Selection.KnownWindow()
	s := Sliding{Messages: c.o.KeepMessages, Tokens: c.o.KeepTokens, Keep: c.o.Keep}
	switch {
	case s.Tokens > 0:
	case window == 0:
		s.Tokens = settings.WindowTokens
	default: // Keep is a percentage of the window
		s.Tokens, s.Keep = percent(window, c.o.CompactAt), c.o.Keep*100/c.o.CompactAt
	}
	return s
}

func (c *Compactor) state(w Work) State {
	return State{Messages: w.Conv.Messages(), Tokens: w.Conv.Tokens(), Window: c.p.Selection.KnownWindow()}
}

// unlimited is more tokens than any conversation has.
const unlimited = 1 << 40

// apply asks a strategy what to keep, removes the other messages and returns the compaction, or nil if nothing was
// removed. asked means that the user requested the compaction, or that the provider rejected a request.
func (c *Compactor) apply(ctx context.Context, w Work, own Strategy, asked bool) *event.ContextCompacted {
	by := ByStrategy
	kept, err := own.Compact(ctx, c.state(w))
	w.Room.summarised(err)
	if err != nil {
		if ctx.Err() == nil {
			c.p.Stream.Publish(w.Task, 0, event.Warning{Text: "the context strategy failed: " + err.Error(), Code: "context", NextStep: "/compact tries again"})
		}
		return nil
	}
	if c.p.Own == nil {
		by = ByWindow
		if asked {
			kept.Tokens = min(kept.Tokens, percent(w.Conv.Tokens(), c.o.Keep))
		}
	}
	if kept.Tokens <= 0 {
		kept.Tokens = unlimited
	}
	plan := w.Conv.PlanCut(kept.Tokens, max(kept.Messages, 0))
	if len(plan.Removed) == 0 {
		return nil
	}
	c.begins(w, by)
	if kept.Summary != "" {
		plan.Cut.Summary = summaryIntro + kept.Summary
	}
	return c.cut(w, by, plan)
}
