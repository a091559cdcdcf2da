package ui

import (
	"buddy/app/slash"
	"buddy/app/state"
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
	c := dialog.NewChanges(u.deps.Theme, u.deps.Keys, "in "+state.Count(files, "file"), diff)
	c.OnCopy = u.copy
	c.OnEdit = lookAs(u, "changes.diff")
	c.OnClose = u.overlays.closeSheet
	u.overlays.sheet = c
}
