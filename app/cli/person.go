package cli

import (
	"buddy/agent/action"
	"buddy/app/compose"
)

// noLooser returns compose.ByPerson's error for a session without a user. A session with the usual settings, and a mode
// that is at least as strict as ask, is always allowed.
func noLooser(f *compose.Options) error {
	if f.Config == "" && (f.Approve == "" || action.Stricter(f.Approve, action.ModeAsk) == f.Approve) {
		return nil
	}
	return compose.ByPerson()
}
