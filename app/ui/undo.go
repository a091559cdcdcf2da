package ui

import (
	"fmt"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/views"
)

// undo takes how many prompts go back, and whether also what was changed since.
func undo(u *UI, args string) error {
	set := event.Undo{Steps: 1}
	for word := range strings.FieldsSeq(args) {
		if word == "--force" {
			set.Force = true
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not known (have: how many prompts go back, and --force)", word)
		}
		set.Steps = n
	}
	u.deps.Send(set)
	return nil
}

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
				u.hint("", "the agent's tools for files changed nothing in this session, or it was put back")
			default:
				u.hint("", "")
				u.openChanges(diff, files)
			}
		}
	})
	return nil
}

func (u *UI) openChanges(diff string, files int) {
	title := fmt.Sprintf("in %d files", files)
	if files == 1 {
		title = "in 1 file"
	}
	c := views.NewChanges(u.deps.Theme, u.deps.Keys, title, diff)
	c.OnCopy = u.copy
	c.OnEdit = u.lookAt("changes.diff")
	c.OnClose = func() { u.over.changes = nil }
	u.over.changes = c
}
