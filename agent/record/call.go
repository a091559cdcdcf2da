package record

import (
	"buddy/agent/action"
	"buddy/agent/event"
)

// Call is a tool call. Fields are nil while what they hold has not happened.
type Call struct {
	ID       string
	Branch   int
	Task     int
	Request  *event.ToolRequested // the newest, as a person or a hook has changed it
	Approval *event.ApprovalAsked // the newest
	Answer   *event.ApprovalAnswered
	Decision *event.DecisionExplained
	Started  *event.ToolStarted
	Result   *event.ToolResult
	Lost     bool // its process ended before it did

	Requested event.Envelope // the first, without its payload
	Ran       event.Envelope // that it started, without its payload
	Ended     event.Envelope // without its payload

	out output
}

// Waits reports whether nobody has answered the approval of the call.
func (c *Call) Waits() bool { return c.Approval != nil && c.Answer == nil }

// Action returns what the call would do; it is empty while that is not known.
func (c *Call) Action() (a action.Action) {
	if c.Request != nil {
		a = c.Request.Action
	}
	return a
}

// call takes an event about a call, and returns that call; nil for one that is not known.
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
		c.Started, c.Ran, c.out = &p, place(env), output{} // what an earlier start printed is no part of the result
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

// openCall returns the call of an event, which is new if it was not known.
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

// place returns where an event is, without what it says.
func place(env event.Envelope) event.Envelope {
	env.Payload = nil
	return env
}
