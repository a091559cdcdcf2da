package app

import (
	"context"
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/config"
)

// door is something to log in to. Its functions read and write files and ask issuers.
type door struct {
	name   string // that --model and /model take
	title  string // for people
	issuer string // where one logs in in the browser; "" where a key is kept
	file   string // that keeps the key
	keep   func(ctx context.Context, key string) (text string, err error)
	forget func(context.Context) (text string, err error)

	// begin says what to do in the browser and how to wait for that.
	begin func(context.Context) (howTo string, wait func(context.Context) error, err error)
}

// access is what the screen needs to log in and out.
type access struct {
	find  func(name string) (door, error)
	names func() string
	ctx   context.Context // ends with the screen
	// makeshift says that the demo answers because nothing else could be used.
	makeshift bool
}

// private reports whether a line may hold a key: it is in no history and in no draft.
func private(line string) bool {
	words := strings.Fields(line)
	return len(words) > 2 && strings.EqualFold(words[0], "/login")
}

// logInHere asks for a key in a dialog, or begins a login in the browser (H12). What is
// typed goes to the store and to nothing else.
func logInHere(u *ui, name string) error {
	in := u.deps.catalog.access
	if name == "" {
		u.deps.catalog.notice(in.usage())
		return nil
	}
	name, more, _ := strings.Cut(name, " ")
	a, err := in.find(name)
	if err != nil {
		return err
	}
	if more != "" {
		u.hint("", "a key belongs here, where nobody sees it; the one in the prompt was not kept")
	}
	if a.issuer != "" {
		u.hint("", "asking "+a.issuer+" for a code …")
		tell := func(text string) {
			u.deps.later(func() { u.hint("", "") })
			u.deps.catalog.notice(text)
		}
		u.deps.background(func() func() { return in.browserLogin(u.seat(), a, tell) })
		return nil
	}
	u.v.secret.Ask("Log in to "+a.title,
		fmt.Sprintf("Type or paste the key. It is kept in %s, which only you can read.", a.file),
		func(key string) {
			text, err := a.keep(in.ctx, key)
			if err != nil {
				u.hint("", "/login: "+err.Error())
				return
			}
			in.loggedIn(u.seat(), a, text)
		})
	return nil
}

func (in access) usage() string {
	return "/login NAME keeps the key of a provider or logs in to a profile: " + in.names()
}

// browserLogin waits for the person, whom tell tells what to do. It returns what to do where
// they sit.
func (in access) browserLogin(s seat, a door, tell func(text string)) func() {
	howTo, wait, err := a.begin(in.ctx)
	if err != nil {
		return func() { s.failed("/login", err) }
	}
	tell(howTo)
	if err := wait(in.ctx); err != nil {
		return func() { s.say(a.name + ": " + err.Error()) }
	}
	return func() { in.loggedIn(s, a, fmt.Sprintf("%s: logged in at %s", a.name, a.issuer)) }
}

// loggedIn says so. A makeshift demo gives way to the model that can be used now, one that
// was asked for stays; a model that was made without the key is made anew.
func (in access) loggedIn(s seat, a door, text string) {
	now := s.info()
	same := now.Profile == a.name || strings.HasPrefix(now.Profile, a.name+"/")
	switch {
	case now.API == model.Demo && in.makeshift:
		s.say(text)
		s.command(event.SwitchModel{Profile: a.name})
	case same && a.issuer == "":
		s.say(text)
		s.command(event.SwitchModel{Profile: now.Profile})
	case same:
		s.say(text)
	default:
		s.say(text + " · /model " + a.name + " changes to it")
	}
}

func logOutHere(u *ui, name string) error { return u.deps.catalog.access.logOut(u.seat(), name) }

func (in access) logOut(s seat, name string) error {
	a, err := in.find(name)
	if err != nil {
		return err
	}
	text, err := a.forget(in.ctx)
	if err == nil {
		s.say(text)
	}
	return err
}

// door is what the screen needs to know of an account.
func (a account) door() door {
	return door{
		name: a.name, title: a.provider.Title, issuer: a.login.Issuer, file: config.Auth().Path(), keep: a.keep, forget: a.forget,
		begin: func(ctx context.Context) (string, func(context.Context) error, error) {
			flow, err := a.begin(ctx)
			if err != nil {
				return "", nil, err
			}
			return howTo(flow), flow.Wait, nil
		},
	}
}

// access returns how to log in with the settings of the program.
func (p *program) access(ctx context.Context) access {
	return access{
		ctx: ctx,
		find: func(name string) (door, error) {
			a, err := accountOf(p.config, name)
			return a.door(), err
		},
		names: func() string { return accountNames(p.config) },
		// with --model demo, or with it in the settings, there is no problem
		makeshift: p.config.Active == nil && p.problem != "",
	}
}
