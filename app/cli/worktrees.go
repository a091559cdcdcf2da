package cli

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"buddy/app/commands"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/views/markup"
)

func worktreeFlag(s *cli, f *pflag.FlagSet) {
	f.StringVar(&s.options.Worktree, "worktree", "", "work in a git worktree on its own branch, new or existing; without a `name`, buddy makes one up")
	f.Lookup("worktree").NoOptDefVal = compose.MadeUp
}

// namedWorktree joins --worktree and the next word into one argument, unless that word is a flag or a command.
func namedWorktree(root *cobra.Command, args []string) []string {
	end := len(args)
	if i := slices.Index(args, "--"); i >= 0 {
		end = i
	}
	i := slices.Index(args[:end], "--worktree")
	if i < 0 || i+1 >= end {
		return args
	}
	name := args[i+1]
	if name == "" || name[0] == '-' || strings.ContainsAny(name, " \t\n") || isCommand(root, name) {
		return args
	}
	return slices.Concat(args[:i], []string{"--worktree=" + name}, args[i+2:])
}

func isCommand(root *cobra.Command, name string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) })
}

// inWorktree calls run in the worktree that --worktree names; without the flag, in the current folder.
func inWorktree(s *cli, prompt string, run func() error) error {
	if s.options.Worktree == "" {
		return run()
	}
	if err := enter(s.options); err != nil {
		return err
	}
	done, err := compose.EnterWorktree(s.options, prompt, s.hint)
	if err != nil {
		return err
	}
	defer done()
	return run()
}

func worktreesCommand(s *cli) *cobra.Command {
	c := &cobra.Command{
		Use:   "worktrees",
		Short: "list the git worktrees of sessions",
		Long: "worktrees lists the git worktrees that buddy made for this repository; outside of a repository, all of them.\n" +
			"The commits column counts the commits that the main checkout's branch lacks.",
		Example: "  buddy worktrees\n  buddy worktrees --json | jq -r '.[].name'\n  buddy worktrees remove fix-tax",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runCommand(c.Context(), s, "worktrees") },
	}
	s.jsonFlag(c, "print machine-readable output")
	yes := false
	r := &cobra.Command{
		Use:   "remove NAME",
		Short: "remove a worktree, after asking you",
		Long: "remove asks on the terminal before it removes a worktree. Its commits stay on its branch, and its changed\n" +
			"files become a git stash. With --yes, it asks nothing and removes only a worktree without changes.",
		Example: "  buddy worktrees remove fix-tax\n  buddy worktrees remove --yes fix-tax",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if yes {
				return runCommand(c.Context(), s, "worktrees", "remove", args[0], "--clean")
			}
			return removeWorktree(s, c, args[0])
		},
	}
	r.Flags().BoolVarP(&yes, "yes", "y", false, "remove it without asking, but only if it has no changes")
	c.AddCommand(r)
	return c
}

// removeWorktree removes a worktree. If the command asks a question, the user answers it on the terminal.
func removeWorktree(s *cli, c *cobra.Command, name string) error {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return exit.Usage("worktrees remove needs a terminal to ask on; --yes works without one and removes only a worktree without changes")
	}
	defer tty.Close() //nolint:errcheck // nothing is left to write
	setup, err := compose.NewSetup(s.options, "local", "")
	if err != nil {
		return err
	}
	session := &commands.Session{Options: s.options, Setup: &setup}
	a, err := commands.Run(c.Context(), session, "worktrees", "remove", name)
	if err != nil {
		return exit.Failure(err)
	}
	if q := a.Question; q != nil {
		for _, line := range q.Lines {
			_, _ = fmt.Fprintln(tty, markup.Plain(line))
		}
		_, _ = fmt.Fprintf(tty, "%s [y/N] ", markup.Plain(q.Title))
		answer, _ := bufio.NewReader(tty).ReadString('\n') // no answer is a no
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return s.print("kept %s", name)
		}
		if a, err = commands.Run(c.Context(), session, q.Choices[0].Run...); err != nil {
			return exit.Failure(err)
		}
	}
	return s.print("%s", a)
}
