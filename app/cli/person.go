package cli

import (
	"buddy/agent/action"
	"buddy/app/compose"
)

// noLooser is compose.ByPerson for a session that asks nobody, unless it is as strict as the person's settings have it.
func noLooser(f *compose.Options) error {
	if f.Config == "" && (f.Approve == "" || action.Stricter(f.Approve, action.ModeAsk) == f.Approve) {
		return nil
	}
	return compose.ByPerson()
}
