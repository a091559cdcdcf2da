package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"buddy/agent/model"
	"buddy/app/exit"
	"buddy/app/headless"
	"buddy/sessions"
	"buddy/tools"
)

// The help of exec.
const (
	execHelp = "exec answers one prompt without the full screen. Only the answer goes to stdout;\n" +
		"everything else goes to stderr. Piped input is added after the PROMPT, between\n" +
		"<stdin> and </stdin>; without a PROMPT, or with -, it is the prompt. With a PROMPT,\n" +
		"exec waits one second for a silent pipe; with - it waits longer.\n\n" +
		"With --output-schema, the answer is one JSON value that fits the schema. If an answer\n" +
		"does not fit, the model gets the errors and two more tries; then exec fails.\n\n" +
		"With --check or --verdict, the PROMPT is a goal: the model works until the command\n" +
		"exits with 0, a read-only subagent says that the goal is met, or both. The work\n" +
		"also ends at a limit, after an error, or after three rounds that change nothing.\n\n" +
		"With --every, exec repeats the PROMPT in one session and prints each answer. A run starts\n" +
		"when this interval since the start of the last run is over and that run has ended. --runs,\n" +
		"--max-turns, --max-cost (else $5) and --timeout (else 24 hours) limit all runs together.\n\n" +
		"A PROMPT that starts with a slash is a command: a skill, a custom command, a prompt from an\n" +
		"MCP server, /init, or /workflow NAME INPUT=VALUE; /help lists them. Other commands exit with\n" +
		"code 2. Put a space before the slash to send it as text.\n\n" +
		"Exit codes:\n" +
		"  0    success: there is an answer, it fits the schema, and the goal is met\n" +
		"  1    a failure, a limit (--timeout, --max-turns, --max-cost), no answer that fits the\n" +
		"       schema, or a goal that is not met; with --every, any failed run, but not a limit\n" +
		"       that is reached between two runs\n" +
		"  2    wrong usage, or an error in the configuration\n" +
		"  129  the terminal was closed (SIGHUP); nothing is cancelled, --resume continues\n" +
		"  130  cancelled (Ctrl-C)\n" +
		"  143  ended by SIGTERM; nothing is cancelled, --resume continues"

	execExamples = "  buddy exec \"what does this repository do?\"\n" +
		"  git diff | buddy exec \"review this\"\n" +
		"  buddy exec --quiet --timeout 5m --max-cost 0.50 \"are all links in docs/ alive?\"\n" +
		"  buddy exec --output-schema release.json \"what changed since the last tag?\" | jq .breaking\n" +
		"  buddy exec --check \"make test\" --max-cost 2 \"make the tests pass\"\n" +
		"  buddy exec --every 10m --timeout 8h \"report new failures of the nightly build\"\n" +
		"  buddy exec --detach \"make the tests pass\"\n" +
		"  buddy exec --detach --id nightly-2026-12-01 \"update the dependencies\"\n" +
		"  buddy exec --json --resume last \"and now the tests\""
)

func (s *cli) execCommand() *cobra.Command {
	detach, durable, goOn := false, false, false
	c := &cobra.Command{
		Use:   "exec [PROMPT]",
		Short: "answer one prompt; only the answer goes to stdout",
		Long:  execHelp, Example: execExamples,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := noLooser(s.options); err != nil {
				return err
			}
			if goOn {
				s.once.Resume = "last"
			}
			if s.once.Runs != 0 && s.once.Every == 0 {
				return exit.Usage("--runs needs --every")
			}
			if s.options.Worktree != "" && s.once.Resume != "" {
				return exit.Usage("--worktree starts a session; it can't be combined with --continue or --resume")
			}
			if s.once.ID != "" {
				if err := sessions.CheckID(s.once.ID); err != nil {
					return exit.Usage("--id: %v", err)
				}
				if !detach && !durable {
					return exit.Usage("--id needs --detach or --durable")
				}
			}
			if durable {
				return execDurable(s, c, args)
			}
			return inWorktree(s, strings.Join(args, ""), func() error {
				if detach {
					return s.detached(c, args)
				}
				return headless.Run(s.options, s.once, args, s.in, s.out, s.err)
			})
		},
	}
	p := c.Flags()
	worktreeFlag(s, p)
	p.BoolVar(&s.once.JSON, "json", false, "print every event as a line of JSON instead of the answer")
	p.BoolVar(&detach, "detach", false, "print the session's id and run in the background; approvals wait until you run buddy attach")
	p.BoolVar(&durable, "durable", false, "start a durable run, which any worker takes, and print its id; see buddy runs")
	p.StringVar(&s.once.ID, "id", "", "with --detach or --durable, the session's `ID`; running the same command again starts no second run and continues one that a crash interrupted")
	p.BoolVarP(&s.once.Quiet, "quiet", "q", false, "on stderr, print only errors, and warnings about restrictions that are not in effect")
	p.BoolVarP(&goOn, "continue", "c", false, "continue the last session in this folder, like --resume last")
	p.StringVarP(&s.once.Resume, "resume", "r", "", "continue a session: its `ID`, or last")
	p.StringVar(&s.once.Schema, "output-schema", "", "a `file` with a JSON Schema for the answer")
	complete(c, "resume", inOrder, sessionNames)
	_ = c.MarkFlagFilename("output-schema", "json")
	p.StringVar(&s.once.Check, "check", "", "the PROMPT is a goal: work until this `command` exits with 0")
	p.BoolVar(&s.once.Outside, "check-outside", false, "in auto mode, run the command of --check outside the sandbox")
	p.BoolVar(&s.once.Verdict, "verdict", false, "the PROMPT is a goal: work until a subagent says that it is met")
	p.Var((*timeFlag)(&s.once.Every), "every", "run the PROMPT again after this time, at least 10s, until a limit is reached")
	p.IntVar(&s.once.Runs, "runs", 0, "with --every, the `number` of runs; 0 means no limit")
	for _, other := range []string{"check", "verdict", "output-schema", "detach", "durable"} {
		c.MarkFlagsMutuallyExclusive("every", other)
	}
	c.MarkFlagsMutuallyExclusive("continue", "resume", "id")
	for _, other := range []string{"worktree", "check", "verdict"} {
		c.MarkFlagsMutuallyExclusive("id", other)
	}
	c.MarkFlagsMutuallyExclusive("check", "output-schema")
	c.MarkFlagsMutuallyExclusive("verdict", "output-schema")
	p.Var((*timeFlag)(&s.once.Timeout), "timeout", "stop after this time: 90s, 5m, 1h or a number of seconds")
	p.Var(turnsFlag{&s.once.MaxTurns}, "max-turns", "maximum turns of the model, instead of agent.max_iterations; 0 means no limit")
	p.Var(costFlag{&s.once.MaxCost}, "max-cost", "maximum cost in dollars, instead of agent.max_cost; 0 means no limit")
	return c
}

// timeFlag is a duration; 0 if not set.
type timeFlag time.Duration

func (t *timeFlag) String() string { return "" }

// Type names the value in the help.
func (*timeFlag) Type() string { return "duration" }

// Set accepts the same durations as /timeout.
func (t *timeFlag) Set(s string) error {
	d, err := tools.ParseDuration(s)
	*t = timeFlag(d)
	return err
}

// turnsFlag accepts a number of turns.
type turnsFlag struct{ to **int }

func (turnsFlag) String() string { return "" }

// Type names the value in the help.
func (turnsFlag) Type() string { return "number" }

// Set accepts a number that is not negative.
func (t turnsFlag) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return errors.New("must be a number of turns; 0 means no limit")
	}
	*t.to = &n
	return nil
}

// costFlag accepts an amount of money.
type costFlag struct{ to **model.Money }

func (costFlag) String() string { return "" }

// Type names the value in the help.
func (costFlag) Type() string { return "dollars" }

// maxCost is the largest limit that --max-cost accepts, in dollars.
const maxCost = 1_000_000

// Set accepts dollars.
func (c costFlag) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	micro := math.Round(v * 1e6)
	switch {
	case err != nil || math.IsNaN(v) || v < 0 || v > maxCost:
		return fmt.Errorf("must be an amount in dollars, such as 0.50 (allowed: 0 to %d)", maxCost)
	case v > 0 && micro == 0:
		return errors.New("is less than a millionth of a dollar; 0 means no limit")
	}
	cost := model.Money(micro)
	*c.to = &cost
	return nil
}
