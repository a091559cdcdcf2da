// Package settings holds the settings that the runtime uses directly. Package config reads them from files; a program
// without files starts with the zero values.
//
//	c := settings.Context{Strategy: settings.Window}.WithDefaults()
package settings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/model"
)

// Strategy selects what happens when a conversation becomes too long for the model.
type Strategy string

// The strategies.
const (
	// Summary asks the model for a summary of the older messages. If that fails, or the context is still nearly full,
	// it works like Digest.
	Summary Strategy = "summary"
	// Digest replaces the oldest exchanges by a few lines about them, without the model.
	Digest Strategy = "digest"
	// Window keeps the newest messages and drops the others. It also does so when there are twice as many messages as
	// it keeps.
	Window Strategy = "window"
	// Keep removes nothing: a full context ends the exchange.
	Keep Strategy = "keep"
)

// Restore selects which of the files removed by a compaction are read again.
type Restore string

// The ways to restore.
const (
	MostRecent   Restore = "recent"
	MostAccessed Restore = "accessed"
	NoFiles      Restore = "none"
)

// Context holds the section [context]: how a conversation is kept within the context window of its model. Numbers are
// percent of the window unless stated otherwise.
type Context struct {
	Strategy      Strategy
	HintAt        int  // the use is reported as a hint, and old results are cleared
	WarnAt        int  // the person is warned
	CriticalAt    int  // the use is reported as critical
	CompactAt     int  // Summary and Window compact above it
	HardAt        int  // Digest compacts; if that does not help nothing is sent
	CompactTo     int  // target of Digest
	ManualTo      int  // target of Digest when a person requested it
	Keep          int  // size of the newest messages that Summary and Window keep
	KeepMessages  int  // maximum number of messages that Window keeps
	KeepResults   bool // old results are not cleared
	Cache         Cache
	KeepTokens    int // Window compacts above this many tokens; 0 is CompactAt, or WindowTokens if the window is unknown
	Restore       Restore
	RestoreTokens int  // total tokens of restored files
	Instructions  bool // whether instruction files such as AGENTS.md are read
}

// Cache selects what a provider is asked to cache.
type Cache struct {
	Off bool     // nothing
	At  []string // those of [CacheParts] that end a cached prefix; none: the last part
}

// CacheParts are the parts of the prompt that may end a cached prefix, in their order.
var CacheParts = []string{"system", "summary"}

// Breakpoints returns c.At as indexes of system messages; nil for the last one.
func (c Cache) Breakpoints() (at []int) {
	for i, part := range CacheParts {
		if slices.Contains(c.At, part) {
			at = append(at, i)
		}
	}
	return at
}

// WindowTokens is the number of tokens above which Window compacts if the model's context window is unknown.
const WindowTokens = 100_000

// WithDefaults returns a copy of c with the default of each value that is zero.
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
	AtOnce  int  // agents that work at the same time; others wait
	Depth   int  // depth of nested agents
	Session int  // agents in a session
	Turns   int  // turns of an agent whose definition has no limit
	Wake    bool // the end of a background agent starts a task of the main agent if that is idle
}

// WithDefaults returns a copy in which each limit that is zero has its default.
func (a Agents) WithDefaults() Agents {
	a.AtOnce, a.Depth, a.Session, a.Turns = cmp.Or(a.AtOnce, 6), cmp.Or(a.Depth, 2), cmp.Or(a.Session, 100), cmp.Or(a.Turns, 50)
	return a
}

// Limits holds the settings of [agent] that limit the exchange of a prompt. 0 is no limit.
type Limits struct {
	MaxIterations int         // turns, which are a request and its calls
	MaxRepeats    int         // how often in a row an answer may repeat the same text before it is cut off
	MaxCost       model.Money // as far as prices are known
	WarnAt        int         // percentage of MaxIterations and MaxCost that causes one warning; 100 disables it
}

// WarnAt is the default of [Limits.WarnAt].
const WarnAt = 80

// Calls holds the settings of [tools] that limit a model's calls.
type Calls struct {
	Timeout time.Duration // for a tool; commands have no limit
	Page    int           // maximum bytes of a file or web page that the model gets at once
	Budgets []string      // NAME=TOKENS, see Tokens
	Wait    bool          // no call starts before its answer is complete
}

// WithDefaults returns a copy in which each limit that is zero has its default.
func (c Calls) WithDefaults() Calls {
	c.Timeout, c.Page = cmp.Or(c.Timeout, time.Minute), cmp.Or(c.Page, 40_000)
	return c
}

// Tokens returns the budgets of tools by name; nil for none. If a name has several, the last one wins.
func (c Calls) Tokens() map[string]int {
	var all map[string]int
	for _, b := range c.Budgets {
		name, tokens, _ := strings.Cut(b, "=")
		if all == nil {
			all = make(map[string]int)
		}
		all[name], _ = strconv.Atoi(tokens) // config has checked it
	}
	return all
}

// MCPTimes holds the settings of [mcp.NAME] that limit the time of a server.
type MCPTimes struct {
	StartTimeout time.Duration // until its tools are listed
	Timeout      time.Duration // for one call
	Idle         time.Duration // for a call without a sign of life
}

// WithDefaults returns a copy in which each limit that is zero has its default.
func (t MCPTimes) WithDefaults() MCPTimes {
	t.StartTimeout, t.Timeout, t.Idle = cmp.Or(t.StartTimeout, time.Minute), cmp.Or(t.Timeout, 10*time.Minute), cmp.Or(t.Idle, 5*time.Minute)
	return t
}
