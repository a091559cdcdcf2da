package trace

import (
	"cmp"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
)

// maxAudit limits the calls of an audit, the latest.
const maxAudit = 10_000

// Audit lists the calls of a session with what was decided about each and what became of it. It takes the
// events in one pass and holds the latest 10,000 calls. The zero value is that of an empty session.
type Audit struct {
	Count int          `json:"count"` // of all calls
	Calls []*AuditCall `json:"calls"` // the latest, in the order in which they were requested

	open map[string]*AuditCall // by id: those without a result
}

// AuditCall is one call.
type AuditCall struct {
	ID       string               `json:"call_id"`
	Seq      uint64               `json:"seq"` // of the request
	Time     int64                `json:"ts_unix_ms"`
	Task     int                  `json:"task"`
	Name     string               `json:"name"`
	Target   string               `json:"target,omitempty"`
	What     string               `json:"what"` // beginning of its command, its path or its arguments
	Rules    []event.DecisionRule `json:"rules,omitempty"`
	Asked    bool                 `json:"asked,omitempty"`    // a person was asked
	Decision event.Decision       `json:"decision,omitempty"` // of the person who was asked
	By       string               `json:"by,omitempty"`       // who that was
	Screen   string               `json:"screen,omitempty"`   // where the person was, if that is known
	Started  int64                `json:"started_unix_ms,omitempty"`
	Ended    int64                `json:"ended_unix_ms,omitempty"`
	Failed   bool                 `json:"failed,omitempty"`
	ExitCode *int                 `json:"exit_code,omitempty"`
}

// Audits reports whether Audit.Add uses events of a type. Callers need not decode others.
func Audits(name string) bool {
	switch name {
	case event.ToolRequested{}.Type(), event.ApprovalAsked{}.Type(), event.ApprovalAnswered{}.Type(), event.DecisionExplained{}.Type(),
		event.ToolStarted{}.Type(), event.ToolResult{}.Type(), event.SessionResumed{}.Type():
		return true
	}
	return false
}

// Add takes the next event.
func (a *Audit) Add(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ToolRequested:
		a.request(env, p)
	case event.ApprovalAsked:
		a.change(p.CallID, func(c *AuditCall) { c.Asked = true })
	case event.ApprovalAnswered:
		a.change(p.CallID, func(c *AuditCall) { c.Decision, c.By, c.Screen = p.Decision, begin(p.By), begin(p.Screen) })
	case event.DecisionExplained:
		a.change(p.CallID, func(c *AuditCall) { c.Rules = bounded(p).Rules })
	case event.ToolStarted:
		a.change(p.CallID, func(c *AuditCall) { c.Started = env.Time })
	case event.ToolResult:
		a.change(p.CallID, func(c *AuditCall) {
			c.Ended, c.ExitCode = env.Time, p.ExitCode
			c.Failed = p.IsError || p.ExitCode != nil && *p.ExitCode != 0
		})
		delete(a.open, p.CallID)
	case event.SessionResumed:
		clear(a.open) // what had not ended did so with its process
	}
}

// request adds a call, or changes the one whose arguments a person or a hook has changed.
func (a *Audit) request(env event.Envelope, p event.ToolRequested) {
	what := begin(cmp.Or(p.Action.Command, p.Action.Path, p.Action.URL, p.Arguments))
	if c := a.open[p.CallID]; c != nil {
		c.What = what
		return
	}
	c := &AuditCall{ID: begin(p.CallID), Seq: env.Seq, Time: env.Time, Task: env.Task, Name: begin(p.Counted()), Target: begin(p.Target), What: what}
	a.Count++
	a.Calls = appendNewest(a.Calls, maxAudit, c)
	if a.open == nil {
		a.open = make(map[string]*AuditCall)
	}
	if len(a.open) < maxOpen {
		a.open[p.CallID] = c
	}
}

func (a *Audit) change(id string, change func(*AuditCall)) {
	if c := a.open[id]; c != nil {
		change(c)
	}
}

// Outcome returns what became of a call, in words.
func (c *AuditCall) Outcome() string {
	switch {
	case c.Started == 0 && c.Ended == 0:
		return "open"
	case c.Started == 0 && c.Decision == event.Deny && (c.By == "cancel" || c.By == "shutdown" || c.By == "prompt"):
		return "cancelled"
	case c.Started == 0 && (c.Decision == event.Deny || slices.ContainsFunc(c.Rules, denies)):
		return "denied"
	case c.Started == 0:
		return "not run" // its arguments did not fit, or it was the same again
	case c.Ended == 0:
		return "no result"
	case c.Failed:
		return "failed"
	}
	return "ran"
}

// denies reports whether a rule denied the call, or asked where nobody was.
func denies(r event.DecisionRule) bool {
	return strings.HasPrefix(r.Text, string(action.Deny)+": ") || strings.HasPrefix(r.Text, string(action.Ask)+": ")
}
