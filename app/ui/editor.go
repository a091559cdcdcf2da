package ui

import (
	"cmp"
	"strings"
)

// editFrom gives a text, or the draft for "", to the person's editor, and takes what becomes of
// it as the draft.
func (u *UI) editFrom(text string) {
	text, err := u.deps.Edit("prompt.md", cmp.Or(text, u.v.prompt.Text()))
	if err != nil {
		u.hint("", err.Error())
		return
	}
	u.v.prompt.Replace(strings.TrimSuffix(text, "\n"))
}

// lookAs returns a function that shows a text in the person's editor, as a file of that name; what
// they change there is of no consequence.
func lookAs(u *UI, name string) func(text string) {
	return func(text string) {
		if _, err := u.deps.Edit(name, text); err != nil {
			u.hint("", err.Error())
		}
	}
}
