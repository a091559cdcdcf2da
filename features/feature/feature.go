// Package feature defines how a feature adds its commands, its settings and its part in a session to the program. A
// feature is a folder below features and an entry in the list of package features.
//
//	// Package clock tells the model the time.
//	package clock
//
//	var Feature = &feature.Feature{
//		Commands: []feature.Command{{
//			Command: slash.Command{Name: "clock", Help: "show the time", CLI: "buddy clock"}, // CLI makes buddy clock, too
//			Run:     show,
//		}},
//		Part: func(s feature.Session) turn.Part { return clock{zone: settings.In(s.Config).Zone} },
//	}
//
//	var settings = config.Own("clock", …) // see config.Own
package feature

import (
	"context"
	"errors"

	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/agent/turn"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/config"
	"buddy/sessions"
	"buddy/tools/file"
)

// ErrNoSession is returned by a command that needs a session.
var ErrNoSession = errors.New("no session runs here")

// Feature is a feature of the program. Each field may be left out.
type Feature struct {
	Commands []Command
	// Part makes the feature's part in the turns of a session. It may be nil or return nil.
	Part func(Session) turn.Part
}

// Session describes a session for the features that make their parts. If no session runs, it describes the working
// directory.
type Session struct {
	Config   *config.Config    // as at the session's start; it does not change
	ID       string            // "" if no session runs
	Dir      string            // folder of the session's files on this machine; "" if no session runs
	Attended bool              // a person reads and answers
	Publish  func(event.Event) // publishes an event, also before the session runs; nil if none runs
	Target   string            // the target at the session's start, as actions name it
	Files    *file.Workspace   // of the target
	Folders  []string          // of the target, in which the session works: first the workspace
	Store    sessions.Store    // sessions of the project
	Redact   *redact.Redactor  // removes secrets
}

// Command is a command that a person can give.
type Command struct {
	slash.Command
	// Run answers a command line. An error explains why the command did nothing. If Run is nil, the line is executed by
	// the runtime commands that Events returns.
	Run func(ctx context.Context, a Asked, args []string) (show.Answer, error)
}

// Asked holds the context of a command.
type Asked struct {
	Config *config.Config
	Part   turn.Part               // of the session; nil if none runs, for an Early command and on the command line
	Here   func() (Session, error) // the working directory; nil if Part is not nil
	Send   func(event.Command)     // sends a command to the runtime; nil if none runs
	Now    slash.Now               // the screen's view of the running session
	// Events passes the stored events of the session to a function, in order, until it returns false.
	Events func(func(event.Envelope) bool) error
	// Settle waits until the session has started and processed all earlier commands. It fails without a session.
	Settle func(context.Context) error
}
