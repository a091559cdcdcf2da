package ui

import (
	"fmt"
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

// trustHere trusts the folder with its settings as they were when the session began, and
// begins the session anew with them.
func trustHere(u *UI, _ string) error {
	if t := u.state.Running(); t != nil {
		return fmt.Errorf("task #%d runs; cancel it first (/kill)", t.ID)
	}
	text, err := u.deps.Catalog.Trust()
	if err != nil {
		return err
	}
	if text != "" {
		u.deps.Catalog.Notice(text)
		return nil
	}
	return u.change(u.deps.Catalog.Current())
}

// exportSession writes this session into a file.
func exportSession(u *UI, args string) error { return u.deps.Catalog.ExportThis(u.seat(), args) }
