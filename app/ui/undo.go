package ui

import (
	"fmt"

	"buddy/app/slash"
	"buddy/views/dialog"
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
				openChanges(u, diff, files)
			}
		}
	})
	return nil
}

func openChanges(u *UI, diff string, files int) {
	title := fmt.Sprintf("in %d files", files)
	if files == 1 {
		title = "in 1 file"
	}
	c := dialog.NewChanges(u.deps.Theme, u.deps.Keys, title, diff)
	c.OnCopy = u.copy
	c.OnEdit = lookAs(u, "changes.diff")
	c.OnClose = func() { u.overlays.changes = nil }
	u.overlays.changes = c
}
