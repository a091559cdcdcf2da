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
		Long: "resume opens a session where it ended; without an argument, it opens the list of sessions. You can\n" +
			"shorten an ID to its first characters, as long as they are unique, or give the session's title,\n" +
			"or words that appear only in its title.\n" +
			"With --fork, it opens a copy and leaves the session unchanged, even if it is in use.",
		Example: "  buddy resume --last\n  buddy resume 7f3a\n  buddy resume checkout taxes\n  buddy resume 7f3a --fork --at 3",
		Args:    cobra.ArbitraryArgs, // the words of a title

		ValidArgsFunction: completeSessions,
		RunE: func(_ *cobra.Command, args []string) error {
			id := strings.Join(args, " ")
			switch {
			case last && id != "":
				return exit.Usage("resume takes a session or --last, not both")
			case last:
				id = "last"
			}
			if at != 0 && !fork || at < 0 {
				return exit.Usage("--at needs --fork and an exchange's number, from 1")
			}
			if !fork {
				return open(s, cmp.Or(id, chosen), "")
			}
			if id == "" {
				return exit.Usage("--fork needs the session to copy, or --last")
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
	c.Flags().BoolVar(&last, "last", false, "the last session used, by a person or by buddy exec")
	c.Flags().BoolVar(&fork, "fork", false, "continue in a copy")
	c.Flags().IntVar(&at, "at", 0, "copy up to this `exchange`; 0 means the last (for the numbers, run: buddy sessions show ID)")
	return c
}
