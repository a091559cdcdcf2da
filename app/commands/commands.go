// Package commands implements the slash commands whose result is a [show.Answer], such as /memory. The full screen,
// plain mode, the command line (buddy memory) and the actions in lists all run the same implementation.
//
// A command is one entry in a table, usually in a file of its own:
//
//	func init() {
//		add(slash.Command{Name: "hello", Brief: "greet somebody"}, hello)
//	}
//
//	func hello(_ context.Context, _ *Session, args []string) (show.Answer, error) {
//		return show.Say("Hello, " + strings.Join(args, " ")), nil
//	}
package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/agent/undo"
	"buddy/app/compose"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features"
	"buddy/features/feature"
)

// Session holds the inputs of commands.
type Session struct {
	Options *compose.Options    // of the program's start; nil in a running session
	Setup   *compose.Setup      // the settings and the saved sessions; nil on the command line
	Program *compose.Program    // the running session; nil for a command before or without one
	Send    func(event.Command) // sends a command to the runtime; nil if none runs
	Now     *slash.Now          // facts from the asking screen; nil if there is none
	Say     func(text string)   // shows the person a text while the command runs; nil if nobody can be asked
	// Since counts the files changed since each prompt; nil without a session to ask.
	Since func() ([]undo.Change, error)
}

// In returns the inputs of commands in a running session.
func In(p *compose.Program, send func(event.Command)) *Session {
	return &Session{Setup: &p.Setup, Program: p, Send: send, Since: func() ([]undo.Change, error) { return compose.ChangedSince(p) }}
}

// now returns the screen's facts about the running session, or the zero Now if there is no screen.
func (s *Session) now() slash.Now {
	if s.Now == nil {
		return slash.Now{}
	}
	return *s.Now
}

var errNoScreen = errors.New("only a screen that is connected to the session can do that")

// busy returns an error if the session can't be left now. Without a screen the session can't be left, because nobody
// knows whether a task runs.
func (s *Session) busy() error {
	switch {
	case s.Now == nil:
		return errNoScreen
	case s.Now.Busy != "":
		return errors.New(s.Now.Busy)
	}
	return nil
}

// handler runs a command. An error explains why the command did nothing.
type handler func(ctx context.Context, s *Session, args []string) (show.Answer, error)

type verb = feature.Verb[*Session]

var handlers = make(map[string]handler)

// add adds a command to the table of slash commands.
func add(c slash.Command, run handler) {
	c.Answers = true
	slash.Add(c)
	handlers[c.Name] = run
}

// Run runs the command named by the first word; the other words are its arguments.
func Run(ctx context.Context, s *Session, words ...string) (show.Answer, error) {
	if len(words) == 0 {
		return show.Answer{}, fmt.Errorf("the command is missing")
	}
	if strings.HasPrefix(words[0], "mcp__") && s.Program != nil {
		text, err := s.Program.Servers.AsPrompt(ctx, words)
		if err == nil {
			s.Send(event.Submit{Text: text})
		}
		return show.Answer{}, err
	}
	run, ok := handlers[words[0]]
	if !ok {
		return show.Answer{}, fmt.Errorf("unknown command %q", words[0])
	}
	return run(ctx, s, words[1:])
}

// ask calls of(runtime) after all earlier commands are done, and returns its result.
func ask[T any](ctx context.Context, s *Session, of func(*agent.Runtime) T) (T, error) {
	if s.Program == nil {
		var none T
		return none, feature.ErrNoSession
	}
	return compose.Report(ctx, s.Program, of)
}

// files wraps the list of a command whose rows come from files.
func (s *Session) files(command string, l show.List) *feature.FileList {
	return &feature.FileList{List: l, Command: command, Away: s.Program.Target != slash.ThisMachine}
}

// overFiles returns the handler of a command that lists files.
func overFiles(list func(context.Context, *Session) (*feature.FileList, error)) handler {
	return func(ctx context.Context, s *Session, args []string) (show.Answer, error) {
		if s.Program == nil {
			return show.Answer{}, feature.ErrNoSession
		}
		l, err := list(ctx, s)
		if err != nil {
			return show.Answer{}, err
		}
		return l.Answer(args)
	}
}

// textOf returns arguments as the typed text.
func textOf(args []string) string { return strings.TrimSpace(strings.Join(args, " ")) }

// readSession passes the session's events to f until f returns false.
func readSession(s *Session, f func(event.Envelope) bool) error {
	switch {
	case s.Program != nil:
		return s.Program.Journal.Range(0, f)
	case s.Setup == nil || s.Setup.Current() == "":
		return nil
	}
	j, err := s.Setup.Store.View(s.Setup.ID)
	if err == nil {
		err = errors.Join(j.Range(0, f), j.Close())
	}
	return err
}

// asked returns the inputs of a feature's commands.
func asked(s *Session, f *feature.Feature) (a feature.Asked, err error) {
	a.Now, a.Events = s.now(), func(f func(event.Envelope) bool) error { return readSession(s, f) }
	a.Send = s.Send
	a.Settle = func(ctx context.Context) error {
		_, err := ask(ctx, s, func(*agent.Runtime) bool { return true })
		return err
	}
	switch {
	case s.Program != nil:
		a.Config, a.Part = &s.Program.Config, s.Program.Parts[f]
	case s.Setup != nil:
		a.Config = &s.Setup.Config
	default:
		var c config.Config
		c, _, _, err = compose.LoadConfig(s.Options)
		a.Config = &c
	}
	if s.Program == nil {
		a.Here = func() (feature.Session, error) { return compose.Here(a.Config) }
	}
	return a, err
}

func init() {
	for _, f := range features.All {
		for _, c := range f.Commands {
			if c.Run == nil {
				slash.Add(c.Command)
				continue
			}
			add(c.Command, func(ctx context.Context, s *Session, args []string) (show.Answer, error) {
				a, err := asked(s, f)
				if err != nil {
					return show.Answer{}, err
				}
				return c.Run(ctx, a, args)
			})
		}
	}
}
