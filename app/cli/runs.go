package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"buddy/app/exit"
	"buddy/app/headless"
	"buddy/texts/searchpath"
)

// runsProgram starts and lists durable runs. It is a program of its own, because Temporal's library would triple the
// size of buddy.
const runsProgram = "buddy-runs"

func runsCommand(s *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "runs COMMAND",
		Short: "list, answer and stop durable runs",
		Long: "runs calls the program " + runsProgram + ", which must be next to buddy or in PATH. Durable runs work on\n" +
			"any number of machines and survive the loss of each program; see docs/durable.md.",
		Example:            "  buddy runs list\n  buddy runs approve nightly-42\n  buddy runs --help",
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return durableRuns(s, args...) },
	}
}

// execDurable starts a durable run with the prompt.
func execDurable(s *cli, c *cobra.Command, args []string) error {
	for _, flag := range []string{"detach", "json", "resume", "continue", "worktree", "output-schema", "check", "check-outside", "verdict", "timeout", "max-turns", "max-cost", "ssh", "container", "target"} {
		if c.Flags().Changed(flag) {
			return exit.Usage("--%s can't be combined with --durable", flag)
		}
	}
	prompt, err := headless.ReadText(args, s.in, s.once, s.err)
	if err != nil {
		return err
	}
	if err := enter(s.options); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return exit.Failure(err)
	}
	return durableRuns(s, "start", "--id", s.once.ID, "--approve", string(s.options.Approve), "--model", s.options.Model, "--folder", dir, "--", prompt)
}

// durableRuns calls the program for durable runs.
func durableRuns(s *cli, args ...string) error {
	path, err := runsPath()
	if err != nil {
		return exit.Error{Code: exit.Failed, Text: "durable runs need the programs buddy-runs and buddy-worker: in buddy's source folder, make durable builds them; put them next to buddy or in PATH"}
	}
	cmd := exec.Command(path, args...) //nolint:gosec // next to this program, or in PATH outside the workspace
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.err
	err = cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.Error{Code: max(ended.ExitCode(), exit.Failed)} // it has printed why
	}
	return exit.Failure(err)
}

func runsPath() (string, error) {
	if exe, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(exe), runsProgram)); err == nil {
			return path, nil
		}
	}
	return searchpath.Look(runsProgram)
}
