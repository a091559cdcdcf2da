package compact

import (
	"slices"

	"buddy/agent/event"
	"buddy/agent/history"
)

// Strategy selects what happens when a conversation grows too long for the model.
type Strategy string

// The strategies.
const (
	// Summary asks the model for a summary of the older messages. When it fails, or the
	// context is nearly full nevertheless, it is Digest.
	Summary Strategy = "summary"
	// Digest replaces the oldest exchanges by a few lines about them, without the model.
	Digest Strategy = "digest"
	// Window keeps the newest messages and forgets the others, also when there are twice as many as it leaves.
	Window Strategy = "window"
	// Keep removes nothing: a full context ends the exchange.
	Keep Strategy = "keep"
)

// Restore selects which of the files that a compaction took out are read again.
type Restore string

// The ways to restore.
const (
	MostRecent   Restore = "recent"
	MostAccessed Restore = "accessed"
	NoFiles      Restore = "none"
)

// Context configures how a conversation is kept within the window of its model. Numbers are
// percent of the window unless they say otherwise; the zero value of each is its default.
type Context struct {
	Strategy Strategy // "" = Summary
	Hint     int      // 70: the use is reported as a hint, and old results are cleared
	Warn     int      // 80: a person is warned
	Critical int      // 90: the use is reported as critical
	Compact  int      // 80: above it Summary and Window compact
	Hard     int      // 95: at it Digest compacts; if that does not help nothing is sent
	Target   int      // 82: what Digest compacts to
	Manual   int      // 60: what Digest compacts to when a person asked
	Tail     int      // 20: how much of the newest messages Summary and Window leave
	Messages int      // 40: how many messages Window leaves at most
	Restore  Restore  // "" = MostRecent
	Memory   int      // 50,000: tokens that restored files may have together
}

// WithDefaults returns the context with the default of each value that is zero.
func (c Context) WithDefaults() Context {
	for _, d := range []struct {
		at    *int
		value int
	}{
		{&c.Hint, 70},
		{&c.Warn, 80},
		{&c.Critical, 90},
		{&c.Compact, 80},
		{&c.Hard, 95},
		{&c.Target, 82},
		{&c.Manual, 60},
		{&c.Tail, 20},
		{&c.Messages, 40},
		{&c.Memory, 50_000},
	} {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	if c.Strategy == "" {
		c.Strategy = Summary
	}
	if c.Restore == "" {
		c.Restore = MostRecent
	}
	return c
}

// order puts the files to restore first.
func (c Context) order(reads []history.Read) []history.Read {
	var all []history.Read
	for i := len(reads) - 1; i >= 0; i-- {
		all = append(all, reads[i])
	}
	if c.Restore == MostAccessed {
		slices.SortStableFunc(all, func(a, b history.Read) int { return b.Times - a.Times })
	}
	return all
}

// percent returns a part of a window, at least one token.
func percent(window, part int) int { return max(1, window/100*part+window%100*part/100) }

// health returns how urgent a use of the window is.
func (c Context) health(used, window int) event.Health {
	switch {
	case window == 0 || used < percent(window, c.Hint):
		return event.Healthy
	case used >= percent(window, c.Critical):
		return event.Critical
	case used >= percent(window, c.Warn):
		return event.Warned
	default:
		return event.Hint
	}
}
