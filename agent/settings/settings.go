// Package settings holds the sections of the settings that the runtime takes as they are. Package config fills them from
// files; a program without files begins with the zero values. It reads nothing.
//
//	c := settings.Context{Strategy: settings.Window}.WithDefaults()
package settings

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"buddy/agent/model"
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

// Context holds the section [context]: how a conversation is kept within the window of its model. Numbers are
// percent of the window unless they say otherwise.
type Context struct {
	Strategy      Strategy
	HintAt        int // the use is reported as a hint, and old results are cleared
	WarnAt        int // a person is warned
	CriticalAt    int // the use is reported as critical
	CompactAt     int // above it Summary and Window compact
	HardAt        int // at it Digest compacts; if that does not help nothing is sent
	CompactTo     int // what Digest compacts to
	ManualTo      int // what Digest compacts to when a person asked
	Keep          int // how much of the newest messages Summary and Window leave
	KeepMessages  int // how many messages Window leaves at most
	Restore       Restore
	RestoreTokens int  // tokens that restored files may have together
	Instructions  bool // whether instruction files such as AGENTS.md are read
}

// WithDefaults returns c with the default of each value that is zero.
func (c Context) WithDefaults() Context {
	c.Strategy, c.Restore = cmp.Or(c.Strategy, Summary), cmp.Or(c.Restore, MostRecent)
	c.HintAt, c.WarnAt, c.CriticalAt = cmp.Or(c.HintAt, 70), cmp.Or(c.WarnAt, 80), cmp.Or(c.CriticalAt, 90)
	c.CompactAt, c.HardAt = cmp.Or(c.CompactAt, 80), cmp.Or(c.HardAt, 95)
	c.CompactTo, c.ManualTo = cmp.Or(c.CompactTo, 82), cmp.Or(c.ManualTo, 60)
	c.Keep, c.KeepMessages, c.RestoreTokens = cmp.Or(c.Keep, 20), cmp.Or(c.KeepMessages, 40), cmp.Or(c.RestoreTokens, 50_000)
	return c
}

// Agents holds the section [agents]: the limits of subagents.
type Agents struct {
	AtOnce  int  // how many work at the same time; more wait
	Depth   int  // of agents that agents call
	Session int  // how many a session may have
	Turns   int  // of one whose definition does not say it
	Wake    bool // the end of one in the background begins a task of the main agent when it is idle
}

// WithDefaults returns a with the default of each limit that is zero.
func (a Agents) WithDefaults() Agents {
	a.AtOnce, a.Depth, a.Session, a.Turns = cmp.Or(a.AtOnce, 6), cmp.Or(a.Depth, 2), cmp.Or(a.Session, 100), cmp.Or(a.Turns, 50)
	return a
}

// Limits are those settings of [agent] that bound the exchange that follows a prompt. 0 is no limit.
type Limits struct {
	MaxIterations int         // turns: a request and the calls that it led to
	MaxRepeats    int         // how many times in a row an answer may have the same text before it is cut off
	MaxCost       model.Money // as far as prices are known
	WarnAt        int         // percent of MaxIterations and MaxCost from which on a person is warned, once; at 100 nobody is
}

// WarnAt is the default of [Limits.WarnAt].
const WarnAt = 80

// Calls are those settings of [tools] that bound the calls of a model.
type Calls struct {
	Timeout time.Duration // of a tool; commands have no limit
	Page    int           // most bytes of a file or web page that the model gets at once
	Budgets []string      // NAME=TOKENS, see Tokens
}

// WithDefaults returns c with the default of each limit that is zero.
func (c Calls) WithDefaults() Calls {
	c.Timeout, c.Page = cmp.Or(c.Timeout, time.Minute), cmp.Or(c.Page, 40_000)
	return c
}

// Tokens returns the budgets of tools by their names; nil for none. The last of a name counts.
func (c Calls) Tokens() map[string]int {
	var all map[string]int
	for _, b := range c.Budgets {
		name, tokens, _ := strings.Cut(b, "=")
		if all == nil {
			all = make(map[string]int)
		}
		all[name], _ = strconv.Atoi(tokens) // who reads the settings has checked it
	}
	return all
}

// MCPTimes are those settings of [mcp.NAME] that limit how long a server may take.
type MCPTimes struct {
	StartTimeout time.Duration // until its tools are listed
	Timeout      time.Duration // of one call
	Idle         time.Duration // of a call without a sign of life
}

// WithDefaults returns t with the default of each limit that is zero.
func (t MCPTimes) WithDefaults() MCPTimes {
	t.StartTimeout, t.Timeout, t.Idle = cmp.Or(t.StartTimeout, time.Minute), cmp.Or(t.Timeout, 10*time.Minute), cmp.Or(t.Idle, 5*time.Minute)
	return t
}
