package trace

import (
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/record"
)

// maxAudit limits an audit to the latest calls.
const maxAudit = 10_000

// Audit lists the calls of a session with the decision about each and its outcome. It reads the events in one pass and
// keeps the latest 10,000 calls. The zero value is that of an empty session.
type Audit struct {
	Count int          `json:"count"` // of all calls
	Calls []*AuditCall `json:"calls"` // the latest, in the order in which they were requested

	record record.Record
	open   map[*record.Call]*AuditCall // those without a result
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
	Decision event.Decision       `json:"decision,omitempty"` // by the person who was asked
	By       string               `json:"by,omitempty"`       // the person's name
	Screen   string               `json:"screen,omitempty"`   // where the person was, if known
	Started  int64                `json:"started_unix_ms,omitempty"`
	Ended    int64                `json:"ended_unix_ms,omitempty"`
	Failed   bool                 `json:"failed,omitempty"`
	ExitCode *int                 `json:"exit_code,omitempty"`
}

// Audits reports whether Audit.Add uses events of a type. Callers need not decode others.
func Audits(name string) bool {
	switch event.Named(name).(type) {
	case event.ToolRequested, event.ApprovalAsked, event.ApprovalAnswered, event.DecisionExplained, event.ToolStarted, event.ToolResult,
		event.SessionResumed:
		return true
	}
	return false
}

// Add processes the next event.
func (a *Audit) Add(env event.Envelope) {
	c := a.record.Apply(env).Call
	if c == nil || c.Request == nil || c.Lost { // open calls ended with their process
		return
	}
	row := a.open[c]
	if row == nil {
		row = &AuditCall{ID: begin(c.ID), Seq: c.Requested.Seq, Time: c.Requested.Time, Task: c.Task, Name: begin(c.Request.Counted()), Target: begin(c.Request.Target)}
		a.Count++
		a.Calls = appendNewest(a.Calls, maxAudit, row)
		if a.open == nil {
			a.open = make(map[*record.Call]*AuditCall)
		}
		a.open[c] = row
	}
	row.fill(c)
	if c.Result != nil {
		delete(a.open, c)
	}
}

// fill copies the known facts of a call.
func (c *AuditCall) fill(of *record.Call) {
	c.What = what(of.Request)
	c.Asked = of.Approval != nil
	if p := of.Answer; p != nil {
		c.Decision, c.By, c.Screen = p.Decision, begin(p.By), begin(p.Screen)
	}
	if of.Decision != nil {
		c.Rules = bounded(*of.Decision).Rules
	}
	c.Started, c.Ended = of.Ran.Time, of.Ended.Time
	if of.Result != nil {
		c.ExitCode, c.Failed = of.Result.ExitCode, of.Result.Failed()
	}
}

// Outcome describes the outcome of a call in words.
func (c *AuditCall) Outcome() string {
	switch {
	case c.Started == 0 && c.Ended == 0:
		return "open"
	case c.Started == 0 && c.Decision == event.Deny && (c.By == "cancel" || c.By == "shutdown" || c.By == "prompt"):
		return "cancelled"
	case c.Started == 0 && (c.Decision == event.Deny || slices.ContainsFunc(c.Rules, denies)):
		return "denied"
	case c.Started == 0:
		return "not run" // invalid arguments, or a repeated call
	case c.Ended == 0:
		return "no result"
	case c.Failed:
		return "failed"
	}
	return "ran"
}

// denies reports whether a rule denied the call, or required a person when none was there.
func denies(r event.DecisionRule) bool {
	return strings.HasPrefix(r.Text, string(action.Deny)+": ") || strings.HasPrefix(r.Text, string(action.Ask)+": ")
}
