package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"buddy/agent/memory"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/texts"
)

// memoryCLI has the commands about memory.
type memoryCLI struct{ *cli }

func (s *memoryCLI) command() *cobra.Command {
	return group(&cobra.Command{
		Use:   "memory",
		Short: "what you taught buddy: rules, corrections and facts",
		Long: "Memory is Markdown that you read, edit and commit, one line an entry with its source and its day:\n" +
			"yours beside your settings, the team's in .buddy/memory.md, this project's with its sessions. In a\n" +
			"session /memory and /remember do the same.",
		Example: "  buddy memory list\n  buddy memory add 'Use pnpm, never npm.'\n  buddy memory why r-4k2d\n  buddy memory share r-4k2d\n  buddy memory accept p-9x1a2b",
	},
		s.list(), s.add(), s.why(),
		s.verb("edit ID TEXT...", "give an entry another text", 2, -1),
		s.verb("keep ID", "say that an entry is right: nothing else confirmed it for long", 1, 1),
		s.verb("share ID", "move an entry into the team's file, which is committed", 1, 1),
		s.verb("forget ID", "take an entry out of its file", 1, 1),
		s.verb("accept ID [TEXT...]", "make a proposal an entry, with another text if you give one", 1, -1),
		s.verb("reject ID", "drop a proposal for good", 1, 1),
		s.toggle(true), s.toggle(false),
	)
}

// open returns the memory of this folder.
func (s *memoryCLI) open() (compose.MemoryList, error) {
	m, err := compose.OpenMemory(s.options)
	return compose.NewMemoryList(m), exit.Failure(err)
}

func (s *memoryCLI) list() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "list what memory has here, and what was proposed",
		Example: "  buddy memory list\n  buddy memory list --json | jq -r '.[].text'",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := s.open()
			if err != nil {
				return err
			}
			if !s.json {
				return s.says(l, "list")
			}
			all, skipped, err := l.Items(c.Context())
			if err != nil {
				return exit.Failure(err)
			}
			if skipped != "" {
				s.hint("%s", skipped)
			}
			return s.indented(append([]slash.Remembered{}, all...), "\t")
		},
	}
	s.jsonFlag(c, "print a list for programs")
	return c
}

func (s *memoryCLI) add() *cobra.Command {
	var d memory.Draft
	var scope, kind string
	c := &cobra.Command{
		Use:     "add TEXT...",
		Short:   "write an entry",
		Example: "  buddy memory add Run make test before a commit.\n  buddy memory add --scope person Answer in one sentence.\n  buddy memory add --paths 'db/**' --scope team 'Use sqlc.'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := s.open()
			if err != nil {
				return err
			}
			d.Scope, d.Kind, d.Text = memory.Scope(scope), memory.Kind(kind), strings.Join(args, " ")
			text, err := l.Add(c.Context(), d)
			if err != nil {
				return exit.Failure(err)
			}
			return s.print("%s", text)
		},
	}
	c.Flags().StringVar(&scope, "scope", string(memory.Folder), "for whom it holds: "+texts.Names(memory.Scopes))
	c.Flags().StringVar(&kind, "kind", string(memory.Rule), "rule, correction or fact")
	c.Flags().StringSliceVar(&d.Paths, "paths", nil, "only for files that fit these `GLOBS`, such as 'db/**,*.sql'")
	c.Flags().StringVar(&d.Target, "target", "", "only on this target, such as web-*")
	return c
}

func (s *memoryCLI) why() *cobra.Command {
	return &cobra.Command{
		Use:               "why ID",
		Short:             "say where an entry comes from: the sessions, the calls, what you said",
		Example:           "  buddy memory why r-4k2d",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.ids,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := s.open()
			if err != nil {
				return err
			}
			return s.says(l, "why "+args[0])
		},
	}
}

// verb makes a command of what can also follow /memory, with so many arguments; -1 is any number.
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
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := s.open()
			if err != nil {
				return err
			}
			return s.says(l, name+" "+strings.Join(args, " "))
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
	name, short := "off", "read and write no file of memory any more, in the sessions to come"
	value := "false"
	if on {
		name, short, value = "on", "have memory again, in the sessions to come", "true"
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

// says obeys what could be typed after /memory and prints what there is to say.
func (s *memoryCLI) says(l compose.MemoryList, args string) error {
	text, err := l.Do(args)
	if err != nil {
		return exit.Failure(err)
	}
	return s.print("%s", text)
}

// ids completes the ids of entries and proposals.
func (s *memoryCLI) ids(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	l, err := s.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(context.Background(), completeTime)
	defer cancel()
	all, _, _ := l.Items(ctx) // what can't be read is not offered
	var ids []string
	proposals := c.Name() == "accept" || c.Name() == "reject"
	for _, e := range all {
		if e.Proposed == proposals || c.Name() == "why" {
			ids = append(ids, e.ID+"\t"+texts.Clip(e.Text, 60))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
