package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"buddy/app/commands"
	"buddy/texts"
)

type memoryCLI struct{ *cli }

func (s *memoryCLI) command() *cobra.Command {
	return group(&cobra.Command{
		Use:   "memory",
		Short: "list and edit what buddy remembers: rules, corrections and facts",
		Long: "Memory is kept in Markdown files that you can read, edit and commit. Each line is an entry with its\n" +
			"source and date. Your entries are next to your settings, the team's in .buddy/memory.md, this\n" +
			"project's with its sessions. In a session, /memory and /remember do the same.",
		Example: "  buddy memory list\n  buddy memory add 'Use pnpm, never npm.'\n  buddy memory why r-4k2d\n  buddy memory share r-4k2d\n  buddy memory accept p-9x1a2b",
	},
		s.list(), s.add(), s.why(),
		s.verb("edit ID TEXT...", "change an entry's text", 2, -1),
		s.verb("keep ID", "confirm an entry that nothing has confirmed for a long time", 1, 1),
		s.verb("share ID", "move an entry to the team's file, which is committed", 1, 1),
		s.verb("forget ID", "remove an entry from its file", 1, 1),
		s.verb("accept ID [TEXT...]", "accept a proposal, with another text if you give one", 1, -1),
		s.verb("reject ID", "reject a proposal for good", 1, 1),
		s.toggle(true), s.toggle(false),
	)
}

func (s *memoryCLI) list() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "list this folder's entries and proposals",
		Example: "  buddy memory list\n  buddy memory list --json | jq -r '.[].text'",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runCommand(c.Context(), s.cli, "memory", "list") },
	}
	s.jsonFlag(c, "print a JSON list")
	return c
}

func (s *memoryCLI) add() *cobra.Command {
	var scope, kind, target string
	var paths []string
	c := &cobra.Command{
		Use:     "add TEXT...",
		Short:   "add an entry",
		Example: "  buddy memory add Run make test before a commit.\n  buddy memory add --scope person Answer in one sentence.\n  buddy memory add --paths 'db/**' --scope team 'Use sqlc.'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			words := []string{"memory", "add", "--scope=" + scope, "--kind=" + kind}
			if len(paths) > 0 {
				words = append(words, "--paths="+strings.Join(paths, ","))
			}
			if target != "" {
				words = append(words, "--target="+target)
			}
			return runCommand(c.Context(), s.cli, append(words, args...)...)
		},
	}
	c.Flags().StringVar(&scope, "scope", "folder", "who it applies to: person, team, folder")
	c.Flags().StringVar(&kind, "kind", "rule", "rule, correction or fact")
	c.Flags().StringSliceVar(&paths, "paths", nil, "only for files that match these `GLOBS`, such as 'db/**,*.sql'")
	c.Flags().StringVar(&target, "target", "", "only on this target, such as web-*")
	return c
}

func (s *memoryCLI) why() *cobra.Command {
	return &cobra.Command{
		Use:               "why ID",
		Short:             "show where an entry comes from: sessions, calls and your messages",
		Example:           "  buddy memory why r-4k2d",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.ids,
		RunE: func(c *cobra.Command, args []string) error {
			return runCommand(c.Context(), s.cli, "memory", "why", args[0])
		},
	}
}

// verb makes a command from a verb of /memory. The command takes least to most arguments, or any number if most is -1.
func (s *memoryCLI) verb(use, short string, least, most int) *cobra.Command {
	name, _, _ := strings.Cut(use, " ")
	args := cobra.MinimumNArgs(least)
	if most >= 0 {
		args = cobra.RangeArgs(least, most)
	}
	return &cobra.Command{
		Use:               use,
		Short:             short,
		Example:           "  buddy memory " + examples[name],
		Args:              args,
		ValidArgsFunction: s.ids,
		RunE: func(c *cobra.Command, args []string) error {
			return runCommand(c.Context(), s.cli, append([]string{"memory", name}, args...)...)
		},
	}
}

var examples = map[string]string{
	"edit":   "edit r-4k2d 'Reload nginx, never restart it.'",
	"keep":   "keep r-4k2d",
	"share":  "share r-4k2d",
	"forget": "forget r-4k2d",
	"accept": "accept p-9x1a2b",
	"reject": "reject p-9x1a2b",
}

// toggle makes the command that switches memory on or off in the settings.
func (s *memoryCLI) toggle(on bool) *cobra.Command {
	name, short := "off", "turn memory off in new sessions: its files are neither read nor written"
	value := "false"
	if on {
		name, short, value = "on", "turn memory on in new sessions", "true"
	}
	return &cobra.Command{
		Use:     name,
		Short:   short,
		Example: "  buddy memory " + name,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return (&configCLI{cli: s.cli}).set("memory.enabled", []string{value})
		},
	}
}

// ids completes the ids of entries and proposals.
func (s *memoryCLI) ids(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(context.Background(), completeTime)
	defer cancel()
	a, err := commands.Run(ctx, &commands.Session{Options: s.options}, "memory", "list")
	if err != nil { // unreadable ones are not offered
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	proposals := c.Name() == "accept" || c.Name() == "reject"
	for _, r := range a.List.Rows {
		if r.Mark == proposals || c.Name() == "why" {
			ids = append(ids, r.ID+"\t"+texts.Clip(r.Cells[0], 60))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
