// Package live connects a screen to a session that runs: events out, commands in, and requests
// for what is no event. Whether the session runs in this process or in its host behind a socket
// makes no difference to it.
//
//	batches, err := session.Subscribe(ctx, last, 25*time.Millisecond)
//	session.Send(event.Submit{Text: "hello"})
//	reply, err := live.Ask[live.ChangesReply](ctx, session, live.Changes{})
package live

import (
	"context"
	"fmt"
	"time"

	"buddy/agent/event"
	"buddy/app/exit"
)

// Protocol is the version of what hosts and screens say to each other. It changes when one that
// is older would misunderstand the other.
const Protocol = 1

// Session is the connection of one screen to a session that runs. Any goroutine may use it.
type Session interface {
	// Hello returns the greeting of the session. It waits for it.
	Hello(context.Context) (Hello, error)
	// Subscribe returns the events with numbers above after, in order and without a gap, in
	// batches. Text that streams comes at most every so often, 0 for at once; durable events
	// come at once. The channel is closed after the last event, when ctx ends, and when the
	// session is lost; Err says which.
	Subscribe(ctx context.Context, after uint64, every time.Duration) (<-chan []event.Envelope, error)
	// Send hands over a command. What becomes of it is seen in the events.
	Send(event.Command)
	// Request answers a request with the reply that belongs to it; see [Ask].
	Request(context.Context, Request) (any, error)
	// Err returns why the events ended; nil when the session was closed or still runs.
	Err() error
}

// Hello describes a session to a screen that attaches to it.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the program that runs it
	Session  string `json:"session"`
	Last     uint64 `json:"last"` // number of its newest event
	PID      int    `json:"pid"`
	Journal  string `json:"journal"`          // path of its file, which appears with its first prompt
	Cwd      string `json:"cwd"`              // where commands start on the target where it began
	Home     string `json:"home"`             // the person's folder there
	Target   string `json:"target"`           // where it began
	Screen   string `json:"screen,omitempty"` // how the session calls the screen that it greets, in events
	// Watches means that the screen may watch and stop, nothing else: it has no terminal.
	Watches bool `json:"watches,omitempty"`
	// Open are the events, up to Last, that began what has not ended: tasks that run,
	// approvals and questions that wait, and the newest ones that say which model, mode and
	// target there are. A screen that shows the end of a long session has not seen them. A session
	// that was resumed begins as one that was created.
	Open []event.Envelope `json:"open,omitempty"`
	// Failed says why there is no session, with the code to exit with; nil: there is one.
	Failed *exit.Error `json:"failed,omitempty"`
}

// Request is a question to the session, or an order, whose answer is not part of its history.
type Request interface {
	// Reply returns a pointer to an empty reply, to be filled from the wire.
	Reply() any
}

// Ask makes a request whose reply is of type R.
func Ask[R any](ctx context.Context, s Session, q Request) (R, error) {
	reply, err := s.Request(ctx, q)
	if err != nil {
		var none R
		return none, err
	}
	r, ok := reply.(*R)
	if !ok {
		var none R
		return none, fmt.Errorf("request %s: reply of type %T", Name(q), reply)
	}
	return *r, nil
}
