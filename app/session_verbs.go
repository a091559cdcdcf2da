package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/sessions"
)

// seat is where a person sits: the full screen, or a line of a terminal.
type seat struct {
	command func(event.Command)          // for the runtime
	say     func(text string)            // for the person
	current func() string                // id of the session
	info    func() event.SessionCreated  // what is known of it now
	change  func(id string) error        // leaves for another session, "" for a new one
	beside  func(work func() func())     // works elsewhere, and then here with what that returns
	failed  func(what string, err error) // says why it came to nothing
}

// seat is that of the person before the screen.
func (u *ui) seat() seat {
	return seat{
		command: u.deps.send, say: u.deps.catalog.notice, change: u.change, beside: u.deps.background,
		current: func() string { return u.state.Info.Session },
		info:    func() event.SessionCreated { return u.state.Info.Event },
		failed:  func(what string, e error) { u.hint("", fmt.Sprintf("%s: %v", what, e)) },
	}
}

// onSession does what a person wants with sessions (J05, J06).
func (c catalog) onSession(s seat, verb, arg string) error {
	switch verb {
	case "", "list":
		text, err := c.sessions()
		if err == nil {
			s.say(text)
		}
		return err
	case "new":
		return s.change("")
	case "resume":
		found, err := c.find(arg)
		if err != nil {
			return err
		}
		if found == s.current() {
			return fmt.Errorf("%s is this session", found)
		}
		return s.change(found)
	case "rename":
		s.command(event.Rename{Title: arg})
		if arg == "" {
			s.say("this session has the title of its first prompt again")
		} else {
			s.say("this session is now called: " + arg)
		}
		return nil
	case "search":
		if arg == "" {
			return errors.New("say what for: /session search TEXT")
		}
		inform(s, "/session search", func() (string, error) { return c.search(arg) }, s.say)
		return nil
	case "fork":
		return c.forkTo(s, arg)
	}
	return fmt.Errorf("%q is not known (have: list, new, resume ID, resume last, rename TITLE, search TEXT, fork, fork N)", verb)
}

// forkTo goes on with a copy of the session.
func (c catalog) forkTo(s seat, arg string) error {
	n := 0
	if arg != "" {
		var err error
		if n, err = strconv.Atoi(strings.TrimPrefix(arg, "#")); err != nil || n < 1 {
			return fmt.Errorf("%q is not the number of an exchange (the first is 1; buddy sessions show lists them)", arg)
		}
	}
	inform(s, "/session fork", func() (string, error) { return c.fork(n) }, func(id string) {
		if err := s.change(id); err != nil {
			s.failed("/session fork", fmt.Errorf("the copy is %s: %w", id, err))
		}
	})
	return nil
}

// inform works elsewhere and gives what came of it to use.
func inform(s seat, what string, work func() (string, error), use func(string)) {
	s.beside(func() func() {
		text, err := work()
		return func() {
			if err != nil {
				s.failed(what, err)
				return
			}
			use(text)
		}
	})
}

const (
	maxHits    = 20               // that a search shows
	searchTime = 20 * time.Second // that it may take
)

// searchSessions finds text in the sessions of this folder, for people.
func (p *program) searchSessions(text string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), searchTime)
	defer cancel()
	var lines []string
	n, last := 0, ""
	err := p.store.Search(ctx, text, func(h sessions.Hit) bool {
		if n++; n > maxHits {
			return false
		}
		if h.Entry.ID != last {
			last = h.Entry.ID
			lines = append(lines, fmt.Sprintf("%s %s  %s", p.mark(last), last, shorten(h.Entry.Title, 50)))
		}
		lines = append(lines, fmt.Sprintf("    %s  %s", time.UnixMilli(h.Envelope.Time).Format("2006-01-02 15:04"), h.Text))
		return true
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		lines = append(lines, fmt.Sprintf("stopped after %s", searchTime))
	case err != nil:
		return "", err
	case n == 0:
		return fmt.Sprintf("%q is in no session of this folder", text), nil
	case n > maxHits:
		lines = append(lines, "there are more; buddy sessions search shows all")
	}
	return strings.Join(lines, "\n"), nil
}

// mark marks this session in a list.
func (p *program) mark(id string) string {
	if id == p.id {
		return "*"
	}
	return " "
}

// fork copies this session up to the end of an exchange; 0 is the last that has ended.
func (p *program) fork(exchange int) (string, error) {
	if p.current() == "" {
		return "", errors.New("nothing of this session is saved yet; the first prompt does that")
	}
	id, _, err := p.store.Fork(p.id, exchange)
	return id, err
}
