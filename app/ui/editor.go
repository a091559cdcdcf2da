package ui

import (
	"cmp"
	"strings"
)

// editFrom is edit with another text than the draft, unless it is "".
func (u *UI) editFrom(text string) {
	text, err := u.deps.Edit("prompt.md", cmp.Or(text, u.v.prompt.Text()))
	if err != nil {
		u.hint("", err.Error())
		return
	}
	u.v.prompt.Replace(strings.TrimSuffix(text, "\n"))
}

// edit gives the draft to the person's editor and takes back what becomes of it.
func (u *UI) edit() { u.editFrom("") }

// look shows a text in the person's editor; what they change there is of no consequence.
func (u *UI) look(text string) { u.lookAt("block.md")(text) }

// lookAt is look with the name of the file that the editor gets.
func (u *UI) lookAt(name string) func(text string) {
	return func(text string) {
		if _, err := u.deps.Edit(name, text); err != nil {
			u.hint("", err.Error())
		}
	}
}
