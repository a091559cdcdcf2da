package ui

import (
	"cmp"
	"fmt"
	"strings"

	"buddy/app/show"
	"buddy/views/dialog"
)

// chooseLogin lets a person choose where to log in.
func chooseLogin(u *UI) {
	p := u.overlays.pick(dialog.PickerOptions{
		Title: "Add an API key or log in", Hint: "type to filter", Columns: []string{"provider", "name", "now"},
		OnChoose: func(r show.Row) {
			u.overlays.unpick()
			if err := logInHere(u, r.ID); err != nil {
				u.hint("", err.Error())
			}
		},
	})
	var rows []show.Row
	for _, a := range u.deps.Catalog.Access.All() {
		rows = append(rows, show.Row{ID: a.Name, Cells: []string{cmp.Or(a.Title, a.Name), a.Name, a.State}})
	}
	p.SetRows(rows)
}

// logInHere asks for a key in a dialog, or begins a login in the browser. What is
// typed goes to the store and to nothing else.
func logInHere(u *UI, name string) error {
	in := u.deps.Catalog.Access
	name, more, _ := strings.Cut(name, " ")
	a, err := in.Find(name)
	if err != nil {
		return err
	}
	if more != "" {
		u.hint("", "Type the key here, where nobody sees it. The one in the prompt was not saved.")
	}
	if a.Issuer != "" {
		u.hint("", "Asking "+a.Issuer+" for a code …")
		tell := func(text string) {
			u.deps.Later(func() { u.hint("", "") })
			u.deps.Catalog.Notice(text)
		}
		u.deps.Background(func() func() { return in.BrowserLogin(u.frontend(), a, tell) })
		return nil
	}
	u.v.secret.Ask("Log in to "+a.Title,
		fmt.Sprintf("Type or paste the key. buddy saves it in %s, which only you can read.", a.File),
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
