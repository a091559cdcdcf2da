package cli

import (
	"buddy/agent/action"
	"buddy/app/compose"
)

// noLooser checks whether this process may start a session without a user. It always may with the usual settings and an
// approval mode at least as strict as ask; otherwise compose.ByPerson decides.
func noLooser(f *compose.Options) error {
	if f.Config == "" && (f.Approve == "" || action.Stricter(f.Approve, action.ModeAsk) == f.Approve) {
		return nil
	}
	return compose.ByPerson()
}
