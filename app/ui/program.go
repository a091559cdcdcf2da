package ui

import (
	"strings"
)

// doctorHere reports on the screen.
func doctorHere(u *UI, _ string) error {
	look, profile := u.deps.Catalog.Doctor, u.state.Info.Event.Profile
	u.hint("", "looking …")
	u.deps.Background(func() func() {
		text := look(profile)
		return func() {
			u.hint("", "")
			u.deps.Catalog.Notice(strings.TrimRight(text, "\n"))
		}
	})
	return nil
}
