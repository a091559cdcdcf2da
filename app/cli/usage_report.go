package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"buddy/app/commands"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/slash"
)

func usageCommand(s *cli) *cobra.Command {
	since, by := "", ""
	c := &cobra.Command{
		Use:   "usage",
		Short: "show the tokens and the cost of all sessions",
		Long: "usage sums up the requests of the sessions of all folders: tokens, the share of the input that the\n" +
			"provider read from its cache, and the cost where the price is known. Deleted sessions don't count, and\n" +
			"a fork counts only its own requests. In JSON, costs are in millionths of a dollar. docs/telemetry.md\n" +
			"describes how to send the numbers to OpenTelemetry.",
		Example: "  buddy usage --since 7d --by day\n  buddy usage --by project --json | jq '.total.cost / 1e6'",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !s.json {
				return runCommand(c.Context(), s, "usage", "--since="+since, "--by="+by)
			}
			setup, err := compose.NewSetup(s.options, slash.ThisMachine, "")
			if err != nil {
				return err
			}
			u, err := commands.UsageOf(setup.Store, since, by, time.Now())
			if err != nil {
				return exit.Failure(err)
			}
			return s.indented(u, "\t")
		},
	}
	s.jsonFlag(c, "print JSON")
	c.Flags().StringVar(&since, "since", commands.UsageTime, "the first day: a `time` such as 7d, which includes today, or a date")
	c.Flags().StringVar(&by, "by", commands.UsageGroups[0], "one row for each `group`: "+strings.Join(commands.UsageGroups, ", "))
	return c
}
