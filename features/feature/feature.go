// Package feature describes a feature of the program, which is one folder below features and one line in its list: its
// commands, its settings and what it does in a session.
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
//	var settings = config.Own("clock", …) // see there
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

// ErrNoSession is the error of a command that works in a session only.
var ErrNoSession = errors.New("no session runs here")

// Feature is a feature of the program. The zero value of each field leaves it out.
type Feature struct {
	Commands []Command
	// Part makes what takes part in the exchanges of a session. nil, also as its result, is nothing.
	Part func(Session) turn.Part
}

// Session holds what there is of a session when its parts are made, or of the working directory where none runs.
type Session struct {
	Config   *config.Config    // as the session was started; it does not change
	ID       string            // "" where none runs
	Dir      string            // where its files are, on this machine; "" where none runs
	Attended bool              // somebody is there who reads and answers
	Publish  func(event.Event) // puts a fact into the stream, also before the session runs; nil where none runs
	Target   string            // where it begins, as actions name it
	Files    *file.Workspace   // of the target
	Store    sessions.Store    // the sessions of the project
	Redact   *redact.Redactor  // takes out secrets
}

// Command is a row of the table of what a person can ask for.
type Command struct {
	slash.Command
	// Run answers a line. An error says why the command did nothing. nil: the line sends the row's Events.
	Run func(ctx context.Context, a Asked, args []string) (show.Answer, error)
}

// Asked holds what a command works on.
type Asked struct {
	Config *config.Config
	Part   turn.Part               // of the session; nil where none runs, as for an Early command and on the command line
	Here   func() (Session, error) // what there is of the working directory; nil where Part is not
	Send   func(event.Command)     // hands a command to the runtime; nil where none runs
	Now    slash.Now               // what the screen knows of the session that runs
	// Events passes what is stored of the session to a function, in order, until that returns false.
	Events func(func(event.Envelope) bool) error
	// Settle waits until the session has begun, and has done what it was sent before. Without one it fails.
	Settle func(context.Context) error
}
