package cli

import (
	"github.com/spf13/cobra"

	"buddy/sessions"
)

// hintDamaged names sessions that can't be opened.
func hintDamaged(c *cli, all []sessions.Entry) {
	for _, e := range all {
		c.hint("session %s can't be opened: %s", e.ID, e.Problem)
	}
}

func (s *sessionsCLI) repairCommand() *cobra.Command {
	return ofSession(&cobra.Command{
		Use:   "repair ID",
		Short: "rebuild the damaged first line of a session",
		Long: "repair rebuilds the damaged first line of a session that can't be opened, from the rest of the\n" +
			"file. The damaged file is moved to the trash. Unless it is certain that the new line is identical\n" +
			"to the original, the session is read-only until you trust it:\n" +
			"buddy sessions trust ID.",
		Example: "  buddy sessions repair 7f3a",
	}, func(store sessions.Store, id string, _ []string) error {
		r, err := store.Repair(id)
		switch {
		case err != nil:
			return err
		case r.Kept == "":
			s.hint("the first line of session %s is not damaged", id)
			return nil
		case !r.Trusted:
			s.hint("it is read-only until you trust it: buddy sessions trust %s", id)
		}
		s.hint("the damaged file is in the trash: %s", r.Kept)
		return nil
	})
}

func (s *sessionsCLI) trustCommand() *cobra.Command {
	return ofSession(&cobra.Command{
		Use:   "trust ID",
		Short: "allow continuing a session from another machine",
		Long: "trust lets you continue a session that was imported or copied from another machine. Until then it can\n" +
			"only be read, because its content would be sent to the model.",
		Example: "  buddy sessions trust 7f3a",
	}, func(store sessions.Store, id string, _ []string) error { return store.Trust(id) })
}
