package record

import (
	"buddy/agent/action"
	"buddy/agent/event"
)

// Call is a tool call. Fields are nil until the step that they hold has happened.
type Call struct {
	ID       string
	Branch   int
	Task     int
	Request  *event.ToolRequested // the newest, with changes by a person or a hook
	Approval *event.ApprovalAsked // the newest
	Answer   *event.ApprovalAnswered
	Decision *event.DecisionExplained
	Started  *event.ToolStarted
	Result   *event.ToolResult
	Lost     bool // its process ended before the call did

	Requested event.Envelope // first request, without its payload
	Ran       event.Envelope // start, without its payload
	Ended     event.Envelope // result, without its payload

	out output
}

// Waits reports whether the call's approval is open.
func (c *Call) Waits() bool { return c.Approval != nil && c.Answer == nil }

// Action returns the action of the call, empty until it is known.
func (c *Call) Action() (a action.Action) {
	if c.Request != nil {
		a = c.Request.Action
	}
	return a
}

// call processes an event about a call, and returns the call; nil if unknown.
func (r *Record) call(env event.Envelope) *Call {
	b := r.branch(env.Branch)
	switch p := env.Payload.(type) {
	case event.ToolRequested:
		c := b.openCall(env, p.CallID)
		if c.Request == nil {
			c.Requested = place(env)
		}
		c.Request = &p
		return c
	case event.DecisionExplained:
		c := b.Calls[p.CallID]
		if c != nil {
			c.Decision = &p
		}
		return c
	case event.ToolStarted:
		c := b.openCall(env, p.CallID)
		c.Started, c.Ran, c.out = &p, place(env), output{} // output of an earlier start is no part of the result
		return c
	case event.ToolOutput:
		c := b.openCall(env, p.CallID)
		c.out.add(env, p)
		return c
	case event.ToolResult:
		c := b.openCall(env, p.CallID)
		c.Result, c.Ended, c.out = &p, place(env), output{}
		delete(b.Calls, p.CallID)
		return c
	}
	return nil
}

// openCall returns the call of an event, and creates it if necessary.
func (b *Branch) openCall(env event.Envelope, id string) *Call {
	c := b.Calls[id]
	if c == nil {
		c = &Call{ID: id, Branch: env.Branch, Task: env.Task}
		if len(b.Calls) < maxOpen {
			put(&b.Calls, id, c)
		}
	}
	return c
}

// place returns an event without its payload.
func place(env event.Envelope) event.Envelope {
	env.Payload = nil
	return env
}
