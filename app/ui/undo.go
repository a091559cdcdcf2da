package ui

import (
	"buddy/app/slash"
	"buddy/texts"
	"buddy/views/dialog"
	"buddy/views/markup"
)

// showChanges opens the dialog with all that the agent changed.
func showChanges(u *UI, _ string) error {
	u.hint("", "comparing …")
	u.deps.Background(func() func() {
		diff, files, err := u.deps.Catalog.Changes()
		return func() {
			switch {
			case err != nil:
				u.hint("", "/diff: "+err.Error())
			case files == 0:
				u.hint("", slash.NoChanges)
			default:
				u.hint("", "")
				openChanges(u, "in "+texts.Plural(files, "file"), diff)
			}
		}
	})
	return nil
}

// openChanges opens the dialog with a diff.
func openChanges(u *UI, title, diff string) {
	c := dialog.NewChanges(u.deps.Theme, u.deps.Keys, title, diff)
	c.SetHighlighter(&markup.Highlighter{Background: u.deps.Background})
	c.OnCopy = u.copy
	c.OnEdit = lookAs(u, "changes.diff")
	c.OnClose = u.overlays.closeSheet
	u.overlays.sheet = c
}
