package slash

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/app/state"
)

// Now holds what a screen knows of its session.
type Now struct {
	Info    event.SessionCreated
	Prompts []state.Border // that one can go back to before, the oldest first
	Busy    error          // why the session can't be left; nil if it can
}

// Frontend holds what commands need of where they were typed: the full screen, or a line of a
// terminal.
type Frontend struct {
	Command func(event.Command)          // for the runtime
	Say     func(text string)            // for the person
	Current func() string                // id of the session
	Info    func() event.SessionCreated  // what is known of it now
	Prompts func() []state.Border        // that one can go back to before, the oldest first
	Busy    func() error                 // says why the session can't be left now, nil if it can
	Change  func(id string) error        // leaves for another session, "" for a new one, unless it is busy
	Beside  func(work func() func())     // works elsewhere, and then here with what that returns
	Failed  func(what string, err error) // says why it came to nothing
}

// OnSession does what a person wants with sessions.
func (c Catalog) OnSession(s Frontend, verb, arg string) error {
	switch verb {
	case "", "list":
		text, err := c.Sessions()
		if err == nil {
			s.Say(text)
		}
		return err
	case "new":
		return s.Change("")
	case "resume":
		found, err := c.Find(arg)
		if err != nil {
			return err
		}
		if found == s.Current() {
			return fmt.Errorf("%s is this session", found)
		}
		return s.Change(found)
	case "rename":
		s.Command(event.Rename{Title: arg})
		if arg == "" {
			s.Say("this session has the title of its first prompt again")
		} else {
			s.Say("this session is now called: " + arg)
		}
		return nil
	case "search":
		if arg == "" {
			return errors.New("say what for: /session search TEXT")
		}
		Inform(s, "/session search", func() (string, error) { return c.Search(arg) }, s.Say)
		return nil
	case "fork":
		return c.forkTo(s, arg)
	}
	return fmt.Errorf("%q is not known (have: list, new, resume ID, resume last, rename TITLE, search TEXT, fork, fork N)", verb)
}

// forkTo goes on with a copy of the session.
func (c Catalog) forkTo(s Frontend, arg string) error {
	n := 0
	if arg != "" {
		var err error
		if n, err = strconv.Atoi(strings.TrimPrefix(arg, "#")); err != nil || n < 1 {
			return fmt.Errorf("%q is not the number of an exchange (the first is 1; buddy sessions show lists them)", arg)
		}
	}
	Inform(s, "/session fork", func() (string, error) { return c.Fork(n) }, func(id string) {
		if err := s.Change(id); err != nil {
			s.Failed("/session fork", fmt.Errorf("the copy is %s: %w", id, err))
		}
	})
	return nil
}

// Inform works elsewhere and gives what came of it to use, or says that what, a command, has
// failed.
func Inform(s Frontend, what string, work func() (string, error), use func(string)) {
	s.Beside(func() func() {
		text, err := work()
		return func() {
			if err != nil {
				s.Failed(what, err)
				return
			}
			use(text)
		}
	})
}
