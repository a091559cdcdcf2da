package ui

import (
	"iter"

	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/app/state"
)

// copy copies text to the clipboard, confirms it, and focuses the prompt.
func (u *UI) copy(text string) {
	lines, err := slash.Copied(text)
	if err != nil {
		u.hint("", err.Error())
		return
	}
	u.deps.Copy(text)
	if !u.overlays.covered() {
		u.arranged.setFocus(layout.Prompt)
	}
	u.hint("", "")
	u.v.status.SetDone(lines + " to the clipboard")
}

// copyAnswer copies the last answer, the last code in it, or the whole conversation.
func copyAnswer(u *UI, args string) error {
	return lookBack(u, func(newest iter.Seq[*state.Block]) (func(), error) {
		text, err := slash.ToCopy(newest, args)
		return func() { u.copy(text) }, err
	})
}
