package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"buddy/app/compose"
	"buddy/app/exit"
)

func (s *cli) resumeCommand() *cobra.Command {
	last, fork, at := false, false, 0
	c := &cobra.Command{
		Use:   "resume [ID|TITLE]",
		Short: "go on with a session of this folder",
		Long: "resume opens a session where it ended. An ID may be shortened to any beginning that is unique, and the\n" +
			"title of a session, or words of it that no other title has, stand for its ID.\n" +
			"With --fork it opens a copy and leaves the session as it is, even if it is in use.",
		Example: "  buddy resume --last\n  buddy resume 7f3a\n  buddy resume checkout taxes\n  buddy resume 7f3a --fork --at 3",
		Args:    cobra.ArbitraryArgs, // the words of a title

		ValidArgsFunction: completeSessions,
		RunE: func(_ *cobra.Command, args []string) error {
			id := strings.Join(args, " ")
			if last == (id != "") {
				return exit.Usage("resume takes either a session id or --last")
			}
			if last {
				id = "last"
			}
			if at != 0 && !fork || at < 0 {
				return exit.Usage("--at takes the number of an exchange, from 1, and needs --fork")
			}
			store, id, err := meant(id)
			from := id
			if err == nil && fork {
				id, _, err = store.Fork(from, at)
			}
			if err != nil {
				return exit.Failure(compose.TrustFirst(from, err))
			}
			return s.interactive(id)
		},
	}
	c.Flags().BoolVar(&last, "last", false, "the session that was used last")
	c.Flags().BoolVar(&fork, "fork", false, "go on with a copy")
	c.Flags().IntVar(&at, "at", 0, "copy up to this `exchange` (buddy sessions show lists them); 0 is the last")
	return c
}
