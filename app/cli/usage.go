package cli

import (
	"math"
	"strings"

	"github.com/spf13/cobra"

	"buddy/app/exit"
)

// nearName is how many letters of a command may be wrong for it to be suggested.
const nearName = 2

// explainArgs makes a command, and all below it, say which argument is missing or too much.
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

// wrongArgs says what is wrong with arguments that do not fit what the command's Use names:
// NAME, [NAME] for what may be missing, and NAME... for several.
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
	_, path, _ := strings.Cut(c.CommandPath(), " ") // "buddy: " stands before what is said
	switch {
	case len(args) < need:
		return exit.Usage("%s: %s is missing", path, strings.TrimSuffix(names[len(args)], "..."))
	case most == 0 && c.HasSubCommands():
		return exit.Usage("%s: unknown command %q%s", path, args[0], nearest(c, args[0]))
	case most == 0:
		return exit.Usage("%s takes no arguments: %q is too much", path, args[0])
	case len(args) > most:
		return exit.Usage("%s takes %s: %q is too much (several words as one go in quotes)", path, strings.Join(names, " "), args[most])
	}
	return exit.Usage("%s takes %s", path, strings.Join(names, " "))
}

// nearest names commands that are written like one that is not known.
func nearest(c *cobra.Command, name string) string {
	c.SuggestionsMinimumDistance = nearName
	all := c.SuggestionsFor(name)
	if len(all) == 0 {
		return ""
	}
	return " (nearest: " + strings.Join(all, ", ") + ")"
}
