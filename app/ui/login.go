package ui

import (
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/slash"
)

// logInHere asks for a key in a dialog, or begins a login in the browser (H12). What is
// typed goes to the store and to nothing else.
func logInHere(u *UI, name string) error {
	in := u.deps.Catalog.Access
	if name == "" {
		u.deps.Catalog.Notice("/login NAME keeps the key of a provider or logs in to a profile: " + in.Names())
		return nil
	}
	name, more, _ := strings.Cut(name, " ")
	a, err := in.Find(name)
	if err != nil {
		return err
	}
	if more != "" {
		u.hint("", "a key belongs here, where nobody sees it; the one in the prompt was not kept")
	}
	if a.Issuer != "" {
		u.hint("", "asking "+a.Issuer+" for a code …")
		u.deps.Background(func() func() { return u.browserLogin(a) })
		return nil
	}
	u.v.secret.Ask("Log in to "+a.Title,
		fmt.Sprintf("Type or paste the key. It is kept in %s, which only you can read.", a.File),
		func(key string) {
			text, err := a.Keep(in.Ctx, key)
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
func (u *UI) browserLogin(a slash.Account) func() {
	ctx := u.deps.Catalog.Access.Ctx
	howTo, wait, err := a.Begin(ctx)
	if err != nil {
		return func() { u.hint("", "/login: "+err.Error()) }
	}
	u.deps.Later(func() {
		u.hint("", "")
		u.deps.Catalog.Notice(howTo)
	})
	if err := wait(ctx); err != nil {
		return func() { u.deps.Catalog.Notice(a.Name + ": " + err.Error()) }
	}
	return func() { u.loggedIn(a, fmt.Sprintf("%s: logged in at %s", a.Name, a.Issuer)) }
}

// loggedIn says so. The demo gives way to the model that can be used now, and a model that
// was made without the key is made anew.
func (u *UI) loggedIn(a slash.Account, text string) {
	now := u.state.Info.Event
	same := now.Profile == a.Name || strings.HasPrefix(now.Profile, a.Name+"/")
	switch {
	case now.API == model.Demo:
		u.deps.Catalog.Notice(text)
		u.deps.Send(event.SwitchModel{Profile: a.Name})
	case same && a.Issuer == "":
		u.deps.Catalog.Notice(text)
		u.deps.Send(event.SwitchModel{Profile: now.Profile})
	case same:
		u.deps.Catalog.Notice(text)
	default:
		u.deps.Catalog.Notice(text + " · /model " + a.Name + " changes to it")
	}
}

func logOutHere(u *UI, name string) error {
	a, err := u.deps.Catalog.Access.Find(name)
	if err != nil {
		return err
	}
	text, err := a.Forget(u.deps.Catalog.Access.Ctx)
	if err == nil {
		u.deps.Catalog.Notice(text)
	}
	return err
}
