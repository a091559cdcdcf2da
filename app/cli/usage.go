package cli

import (
	"errors"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"buddy/app/exit"
	"buddy/app/fuzzy"
)

// explainArgs makes a command and its subcommands name the missing or extra argument.
func explainArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		explainArgs(sub)
	}
	if fits := c.Args; fits != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if fits(c, args) == nil {
				return nil
			}
			return wrongArgs(c, args)
		}
	}
}

// wrongArgs explains wrong arguments with the command's Use, in which [NAME] is optional and NAME... stands for several
// arguments.
func wrongArgs(c *cobra.Command, args []string) error {
	names := strings.Fields(c.Use)[1:]
	need, most := 0, len(names)
	for _, n := range names {
		if !strings.HasPrefix(n, "[") {
			need++
		}
		if strings.HasSuffix(n, "...") {
			most = math.MaxInt
		}
	}
	_, path, _ := strings.Cut(c.CommandPath(), " ") // "buddy: " is printed before the message
	switch {
	case len(args) < need:
		return exit.Usage("%s: %s is missing", path, strings.TrimSuffix(names[len(args)], "..."))
	case most == 0 && c.HasSubCommands():
		return exit.Usage("%s: unknown command %q%s", path, args[0], nearest(c, args[0]))
	case most == 0:
		return exit.Usage("%s takes no arguments: remove %q", path, args[0])
	case len(args) > most:
		return exit.Usage("%s takes %s: remove %q (put several words that belong together in quotes)", path, strings.Join(names, " "), args[most])
	}
	return exit.Usage("%s takes %s", path, strings.Join(names, " "))
}

// explainHelp makes the help command fail for an unknown command; cobra would show the help of its parent.
func explainHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		return
	}
	help.Run, help.RunE = nil, func(_ *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return exit.Usage("help: unknown command %q%s", strings.Join(args, " "), nearest(found, strings.Join(rest, " ")))
		}
		found.InitDefaultHelpFlag()
		return found.Help()
	}
}

// nearest returns a "did you mean" question with the subcommand of c most similar to an unknown name, or "" if none is
// similar.
func nearest(c *cobra.Command, name string) string {
	var all []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			all = append(all, sub.Name())
		}
	}
	return fuzzy.DidYouMean("", name, all)
}

// wrongFlag adds a "did you mean" question with a similar flag to the error about an unknown flag.
func wrongFlag(c *cobra.Command, err error) error {
	none, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || none.GetSpecifiedShortnames() != "" {
		return err
	}
	var all []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all = append(all, f.Name)
		}
	})
	return exit.Usage("%v%s", err, fuzzy.DidYouMean("--", none.GetSpecifiedName(), all))
}
