package cli

import (
	"github.com/spf13/cobra"

	"buddy/sessions"
)

// sayDamaged names sessions that can't be opened.
func sayDamaged(c *cli, all []sessions.Entry) {
	for _, e := range all {
		c.hint("session %s can't be opened: %s", e.ID, e.Problem)
	}
}

func (s *sessionsCLI) repairCommand() *cobra.Command {
	return ofSession(&cobra.Command{
		Use:   "repair ID",
		Short: "rebuild the damaged first line of a session",
		Long: "repair rebuilds the first line of a session that can't be opened because that line is damaged, from what is\n" +
			"left of it and from the rest. The file as it was goes to the trash. Unless it is certain that the new line is\n" +
			"the one that was written on this machine, the session is read-only until you trust it:\n" +
			"buddy sessions trust ID.",
		Example: "  buddy sessions repair 7f3a",
	}, func(store sessions.Store, id string, _ []string) error {
		r, err := store.Repair(id)
		switch {
		case err != nil:
			return err
		case r.Kept == "":
			s.hint("nothing was wrong with the first line of session %s", id)
			return nil
		case !r.Trusted:
			s.hint("it is read-only until you trust it: buddy sessions trust %s", id)
		}
		s.hint("the file as it was is in the trash: %s", r.Kept)
		return nil
	})
}

func (s *sessionsCLI) trustCommand() *cobra.Command {
	return ofSession(&cobra.Command{
		Use:   "trust ID",
		Short: "allow to continue a session that came from elsewhere",
		Long: "trust lets you continue a session that was imported or copied from another machine. Until then it can\n" +
			"only be read, because its content would be sent to the model.",
		Example: "  buddy sessions trust 7f3a",
	}, func(store sessions.Store, id string, _ []string) error { return store.Trust(id) })
}
