package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/app/exit"
	"buddy/app/headless"
	"buddy/texts"
)

// failNever is the value of --fail-on for which no finding matters.
const failNever = "never"

func reviewCommand(s *cli) *cobra.Command {
	failOn, format := string(event.SeverityHigh), string(headless.ReviewText)
	c := &cobra.Command{
		Use:   "review [BASE]",
		Short: "find defects in a change, without editing anything",
		Long: "review lets a read-only subagent look at a change, and prints a line for each defect:\n" +
			"file:line · severity · text. Without a BASE, it reviews uncommitted changes; if there are none, this\n" +
			"branch compared to the default branch. With a BASE, it reviews HEAD and the working tree compared\n" +
			"to that commit, branch or tag. It names the reviewed range on stderr. An unknown severity counts\n" +
			"as the highest.\n\n" +
			"Exit codes:\n" +
			"  0    no defect at or above --fail-on\n" +
			"  1    at least one defect at or above --fail-on\n" +
			"  2    no result: wrong usage, nothing to review, a failure, or an unreadable answer\n" +
			"  130  cancelled (Ctrl-C)",
		Example: "  buddy review\n  buddy review main\n  buddy review --json --fail-on medium origin/main > review.json\n  buddy review --format sarif origin/main > review.sarif",
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
			as := headless.ReviewFormat(format)
			if s.json {
				as = headless.ReviewJSON
			}
			if !slices.Contains(headless.ReviewFormats, as) {
				return exit.Usage("--format: unknown format %q (have: %s)", format, texts.Names(headless.ReviewFormats))
			}
			return headless.Review(s.options, s.once, base, at, as, s.out, s.err)
		},
	}
	p := c.Flags()
	s.jsonFlag(c, "print one JSON document: findings, base, counts, cost")
	p.StringVar(&format, "format", format, "the `format` of the result: "+texts.Names(headless.ReviewFormats)+"; github is annotations in a pull request")
	p.StringVar(&failOn, "fail-on", failOn, "exit with 1 for a defect of this `severity` or higher: critical, high, medium, low; or never")
	p.BoolVarP(&s.once.Quiet, "quiet", "q", false, "on stderr, print only errors, and warnings about restrictions that are not in effect")
	p.Var((*timeFlag)(&s.once.Timeout), "timeout", "stop after this time: 90s, 5m, 1h or a number of seconds")
	p.Var(costFlag{&s.once.MaxCost}, "max-cost", "maximum cost in dollars, instead of agent.max_cost; 0 means no limit")
	return c
}
