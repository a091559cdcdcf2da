package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/slash"
)

func (s *cli) resumeCommand() *cobra.Command {
	last, fork, at := false, false, 0
	c := &cobra.Command{
		Use:   "resume [ID|TITLE]",
		Short: "continue a session of this folder",
		Long: "resume opens a session where it ended, or without one the list of sessions. An ID may be shortened to\n" +
			"any beginning that is unique, and the title of a session, or words of it that no other title has,\n" +
			"stand for its ID.\n" +
			"With --fork it opens a copy and leaves the session as it is, even if it is in use.",
		Example: "  buddy resume --last\n  buddy resume 7f3a\n  buddy resume checkout taxes\n  buddy resume 7f3a --fork --at 3",
		Args:    cobra.ArbitraryArgs, // the words of a title

		ValidArgsFunction: completeSessions,
		RunE: func(_ *cobra.Command, args []string) error {
			id := strings.Join(args, " ")
			switch {
			case last && id != "":
				return exit.Usage("resume takes either a session or --last")
			case last:
				id = "last"
			}
			if at != 0 && !fork || at < 0 {
				return exit.Usage("--at takes the number of an exchange, from 1, and needs --fork")
			}
			if !fork {
				return open(s, cmp.Or(id, chosen), "")
			}
			if id == "" {
				return exit.Usage("--fork takes the session to copy, or --last")
			}
			store, from, err := meant(id)
			if err == nil {
				id, _, err = store.Fork(from, at)
			}
			if err != nil {
				return exit.Failure(compose.TrustFirst(from, err))
			}
			return s.interactive(slash.Next{Resume: id})
		},
	}
	c.Flags().BoolVar(&last, "last", false, "the session that was used last, by a person or by buddy exec")
	c.Flags().BoolVar(&fork, "fork", false, "continue a copy")
	c.Flags().IntVar(&at, "at", 0, "copy up to this `exchange` (buddy sessions show lists them); 0 is the last")
	return c
}
