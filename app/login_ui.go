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
		u.deps.catalog.notice("/login NAME keeps the key of a provider or logs in to a profile: " + in.names())
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
		u.deps.background(func() func() { return u.browserLogin(a) })
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
			u.loggedIn(a, text)
		})
	return nil
}

// browserLogin runs beside the screen and waits for the person. It returns what to do on
// the UI goroutine.
func (u *ui) browserLogin(a account) func() {
	ctx := u.deps.catalog.access.ctx
	flow, err := a.begin(ctx)
	if err != nil {
		return func() { u.hint("", "/login: "+err.Error()) }
	}
	u.deps.later(func() {
		u.hint("", "")
		u.deps.catalog.notice(howTo(flow))
	})
	if err := flow.Wait(ctx); err != nil {
		return func() { u.deps.catalog.notice(a.name + ": " + err.Error()) }
	}
	return func() { u.loggedIn(a, fmt.Sprintf("%s: logged in at %s", a.name, a.login.Issuer)) }
}

// loggedIn says so. The demo gives way to the model that can be used now, and a model that
// was made without the key is made anew.
func (u *ui) loggedIn(a account, text string) {
	now := u.state.Info.Event
	same := now.Profile == a.name || strings.HasPrefix(now.Profile, a.name+"/")
	switch {
	case now.API == model.Demo:
		u.deps.catalog.notice(text)
		u.deps.send(event.SwitchModel{Profile: a.name})
	case same && a.login.Issuer == "":
		u.deps.catalog.notice(text)
		u.deps.send(event.SwitchModel{Profile: now.Profile})
	case same:
		u.deps.catalog.notice(text)
	default:
		u.deps.catalog.notice(text + " · /model " + a.name + " changes to it")
	}
}

func logOutHere(u *ui, name string) error {
	a, err := u.deps.catalog.access.find(name)
	if err != nil {
		return err
	}
	text, err := a.forget(u.deps.catalog.access.ctx)
	if err == nil {
		u.deps.catalog.notice(text)
	}
	return err
}

// access returns how to log in with the settings of the program.
func (p *program) access(ctx context.Context) access {
	return access{
		ctx:   ctx,
		find:  func(name string) (account, error) { return accountOf(p.config, name) },
		names: func() string { return accountNames(p.config) },
	}
}
