package ui

import (
	"fmt"
	"strings"
)

// logInHere asks for a key in a dialog, or begins a login in the browser (H12). What is
// typed goes to the store and to nothing else.
func logInHere(u *UI, name string) error {
	in := u.deps.Catalog.Access
	if name == "" {
		u.deps.Catalog.Notice(in.Usage())
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
		tell := func(text string) {
			u.deps.Later(func() { u.hint("", "") })
			u.deps.Catalog.Notice(text)
		}
		u.deps.Background(func() func() { return in.BrowserLogin(u.frontend(), a, tell) })
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
			in.LoggedIn(u.frontend(), a, text)
		})
	return nil
}
