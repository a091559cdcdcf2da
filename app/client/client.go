// Package client defines the connection of a screen to a running session, in this process or in another one. The
// session sends events. The screen sends commands, and makes requests, which have a reply.
//
//	batches, err := session.Subscribe(ctx, last, 25*time.Millisecond)
//	session.Send(event.Submit{Text: "hello"})
//	reply, err := client.Ask[client.FilesReply](ctx, session, client.Files{Query: "main"})
package client

import (
	"context"
	"fmt"
	"time"

	"buddy/agent/event"
	"buddy/app/exit"
)

// Protocol is the version of the messages between hosts and screens. It is increased when a host and a screen of
// different versions would otherwise misunderstand each other.
const Protocol = 1

// Session is the connection of one screen to a running session. Any goroutine may use it.
type Session interface {
	// Hello waits for the greeting of the session and returns it.
	Hello(context.Context) (Hello, error)
	// Subscribe returns the events with numbers above after, in order and without a gap, in batches. Durable events come
	// at once. Streamed text comes at once if every is 0, else at intervals of at least every. If every is [DurableOnly],
	// only durable events come, and a session that no screen has started yet does not start. The channel is closed after
	// the last event, when ctx ends and when the session is lost; Err returns the reason.
	Subscribe(ctx context.Context, after uint64, every time.Duration) (<-chan []event.Envelope, error)
	// Send sends a command. The events show its effect.
	Send(event.Command)
	// Request makes a request and returns its reply; see [Ask].
	Request(context.Context, Request) (any, error)
	// Err returns why the events ended; nil when the session was closed or still runs.
	Err() error
}

// DurableOnly is the interval of a subscription to durable events only.
const DurableOnly time.Duration = -1

// Hello describes a session to a screen that attaches to it.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the program that runs the session
	Session  string `json:"session"`
	Last     uint64 `json:"last"` // number of its newest event
	PID      int    `json:"pid"`
	Journal  string `json:"journal"`          // path of its file, which appears with its first prompt
	Cwd      string `json:"cwd"`              // where commands start on the first target
	Home     string `json:"home"`             // the user's home folder on that target
	Target   string `json:"target"`           // the target at the start of the session
	Screen   string `json:"screen,omitempty"` // the greeted screen's name in events
	// Watches means that the screen has no terminal and may only watch and stop.
	Watches bool `json:"watches,omitempty"`
	// Open holds the events, up to Last, that started anything unfinished (running tasks, open approvals and
	// questions), and the newest events that set model, mode and target. A screen that reads only the end of a long
	// session needs them.
	Open []event.Envelope `json:"open,omitempty"`
	// About describes the session for a list. Only a screen that sets socket.Screen.Looks gets it.
	About *Description `json:"about,omitempty"`
	// Failed explains why there is no session, with the exit code; nil if there is a session.
	Failed *exit.Error `json:"failed,omitempty"`
}

// Request asks the session for something. The reply is not part of the session's history.
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
