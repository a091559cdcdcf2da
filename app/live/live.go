// Package live is how a screen sees a session that runs: events out, commands in, and requests
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
)

// Session is a session that runs. Any goroutine may use it.
type Session interface {
	// Subscribe returns the events with numbers above after, in order and without a gap, in
	// batches. Text that streams comes at most every so often, 0 for at once; durable events
	// come at once. The channel is closed after the last event, when ctx ends, and when the
	// session is lost; Err says which.
	Subscribe(ctx context.Context, after uint64, every time.Duration) (<-chan []event.Envelope, error)
	// Send hands over a command. What becomes of it is seen in the events.
	Send(event.Command)
	// Request answers a request with the reply that belongs to it; see [Ask].
	Request(context.Context, Request) (any, error)
	// Err is why the events ended; nil when the session was closed or still runs.
	Err() error
}

// Request is a question to the session, or an order, whose answer is not part of its history.
type Request interface {
	// Name names it on the wire.
	Name() string
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
		return none, fmt.Errorf("request %s: reply of type %T", q.Name(), reply)
	}
	return *r, nil
}
