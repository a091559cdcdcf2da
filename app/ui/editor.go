package ui

import (
	"cmp"
	"strings"
)

// editFrom opens text, or the draft if it is empty, in the user's editor and makes the result the draft.
func (u *UI) editFrom(text string) {
	text, err := u.deps.Edit("prompt.md", cmp.Or(text, u.v.prompt.Text()))
	if err != nil {
		u.hint("", err.Error())
		return
	}
	u.v.prompt.Replace(strings.TrimSuffix(text, "\n"))
}

// lookAs returns a function that shows a text in the user's editor, in a file with the given name. Changes are ignored.
func lookAs(u *UI, name string) func(text string) {
	return func(text string) {
		if _, err := u.deps.Edit(name, text); err != nil {
			u.hint("", err.Error())
		}
	}
}
