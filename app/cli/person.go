package cli

import (
	"buddy/agent/action"
	"buddy/app/compose"
)

// noLooser applies compose.ByPerson to a session without a user, unless the session uses the usual settings and a mode
// at least as strict as ask.
func noLooser(f *compose.Options) error {
	if f.Config == "" && (f.Approve == "" || action.Stricter(f.Approve, action.ModeAsk) == f.Approve) {
		return nil
	}
	return compose.ByPerson()
}
