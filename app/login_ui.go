package app

import (
	"context"
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/config"
)

// access is what the screen needs to log in and out: the functions of account, which read
// and write files and ask issuers.
type access struct {
	find  func(name string) (account, error)
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
	if a.login.Issuer != "" {
		u.hint("", "asking "+a.login.Issuer+" for a code …")
		tell := func(text string) {
			u.deps.later(func() { u.hint("", "") })
			u.say(text)
		}
		u.deps.background(func() func() { return in.browserLogin(u, a, tell) })
		return nil
	}
	u.v.secret.Ask("Log in to "+a.provider.Title,
		fmt.Sprintf("Type or paste the key. It is kept in %s, which only you can read.", config.Auth().Path()),
		func(key string) {
			text, err := a.keep(in.ctx, key)
			if err != nil {
				u.hint("", "/login: "+err.Error())
				return
			}
			in.loggedIn(u, a, text)
		})
	return nil
}

func (in access) usage() string {
	return "/login NAME keeps the key of a provider or logs in to a profile: " + in.names()
}

// browserLogin waits for the person, whom tell tells what to do. It returns what to do where
// they sit.
func (in access) browserLogin(s seat, a account, tell func(text string)) func() {
	flow, err := a.begin(in.ctx)
	if err != nil {
		return func() { s.failed("/login", err) }
	}
	tell(howTo(flow))
	if err := flow.Wait(in.ctx); err != nil {
		return func() { s.say(a.name + ": " + err.Error()) }
	}
	return func() { in.loggedIn(s, a, fmt.Sprintf("%s: logged in at %s", a.name, a.login.Issuer)) }
}

// loggedIn says so. A makeshift demo gives way to the model that can be used now, one that
// was asked for stays; a model that was made without the key is made anew.
func (in access) loggedIn(s seat, a account, text string) {
	now := s.info()
	same := now.Profile == a.name || strings.HasPrefix(now.Profile, a.name+"/")
	switch {
	case now.API == model.Demo && in.makeshift:
		s.say(text)
		s.command(event.SwitchModel{Profile: a.name})
	case same && a.login.Issuer == "":
		s.say(text)
		s.command(event.SwitchModel{Profile: now.Profile})
	case same:
		s.say(text)
	default:
		s.say(text + " · /model " + a.name + " changes to it")
	}
}

func logOutHere(u *ui, name string) error { return u.deps.catalog.access.logOut(u, name) }

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

// access returns how to log in with the settings of the program.
func (p *program) access(ctx context.Context) access {
	return access{
		ctx:   ctx,
		find:  func(name string) (account, error) { return accountOf(p.config, name) },
		names: func() string { return accountNames(p.config) },
		// with --model demo, or with it in the settings, there is no problem
		makeshift: p.config.Active == nil && p.problem != "",
	}
}
