package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/app/exit"
	"buddy/app/headless"
	"buddy/texts"
)

// failNever is the value of --fail-on with which no finding matters.
const failNever = "never"

func reviewCommand(s *cli) *cobra.Command {
	failOn := string(event.SeverityHigh)
	c := &cobra.Command{
		Use:   "review [BASE]",
		Short: "list the defects of a change; nothing is changed",
		Long: "review lets a subagent that can only read look at a change, and prints a line for each defect:\n" +
			"file:line severity text. Without a BASE the change is what is not committed; when all is, what\n" +
			"this branch adds to the default branch. With one it is what HEAD and the files here add to that\n" +
			"commit, branch or tag. Which it was stands on stderr. A severity that is not understood counts\n" +
			"as the highest.\n\n" +
			"Exit codes:\n" +
			"  0    nothing at or above --fail-on was found\n" +
			"  1    something was\n" +
			"  2    there is no result: wrong usage, nothing to review, a failure, an answer that can't be read\n" +
			"  130  cancelled (Ctrl-C)",
		Example: "  buddy review\n  buddy review main\n  buddy review --json --fail-on medium origin/main > review.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			at := event.Severity(failOn)
			switch {
			case failOn == failNever:
				at = ""
			case !slices.Contains(event.Severities, at):
				return exit.Usage("--fail-on: unknown severity %q (have: %s, %s)", failOn, texts.Names(event.Severities), failNever)
			}
			base := ""
			if len(args) > 0 {
				if base = args[0]; base == "" {
					return exit.Usage("the BASE is empty")
				}
			}
			return headless.Review(s.options, s.once, base, at, s.out, s.err)
		},
	}
	p := c.Flags()
	p.BoolVar(&s.once.JSON, "json", false, "print one JSON document: findings, base, counts, cost")
	p.StringVar(&failOn, "fail-on", failOn, "the lowest `severity` that makes the exit code 1: critical, high, medium, low or never")
	p.BoolVarP(&s.once.Quiet, "quiet", "q", false, "print nothing but errors, and limits that are lost, on stderr")
	p.Var((*timeFlag)(&s.once.Timeout), "timeout", "give up after so long: 90s, 5m, 1h or a number of seconds")
	p.Var(costFlag{&s.once.MaxCost}, "max-cost", "dollars that the review may cost, instead of agent.max_cost; 0 is no limit")
	return c
}
