package cli

import (
	"buddy/agent/action"
	"buddy/app/compose"
)

// noLooser is compose.ByPerson for a session without a user, unless its mode is at least as strict as the default.
func noLooser(f *compose.Options) error {
	if f.Config == "" && (f.Approve == "" || action.Stricter(f.Approve, action.ModeAsk) == f.Approve) {
		return nil
	}
	return compose.ByPerson()
}
