package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/sessions"
	"buddy/texts"
)

func (s *sessionsCLI) exportCommand() *cobra.Command {
	format, output, force := "md", "", false
	c := &cobra.Command{
		Use:   "export ID",
		Short: "a session as Markdown, JSON or a page of HTML, for others",
		Long: "export prints a session for others to read. Keys and what looks like one are taken out, but\n" +
			"read it before you share it. md and html are for people; json holds all events, for import.",
		Example: "  buddy sessions export last > session.md\n  buddy sessions export 7f3a --format html --output session.html",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return s.export(args[0], format, output, force) },
	}
	c.Flags().StringVar(&format, "format", format, "the `format`: md, json or html")
	c.Flags().StringVarP(&output, "output", "o", "", "a new `file` to write instead of stdout")
	c.Flags().BoolVar(&force, "force", false, "write over a file that exists")
	complete(c, "format", onlyThese, func() []cobra.Completion {
		var all []cobra.Completion
		for _, f := range sessions.ExportFormats {
			all = append(all, string(f))
		}
		return all
	})
	c.ValidArgsFunction = completeSessions
	return c
}

func (s *sessionsCLI) export(arg, format, output string, force bool) error {
	as := sessions.ExportFormat(format)
	if !slices.Contains(sessions.ExportFormats, as) {
		return exit.Usage("--format %q is not known (have: md, json, html)", format)
	}
	store, id, err := meant(arg)
	if err != nil {
		return exit.Failure(err)
	}
	c, _, _, err := compose.LoadConfig(s.options)
	if err != nil {
		return err
	}
	hide := compose.Redactor(c)
	var warnings []string
	if output == "" {
		warnings, err = store.Export(s.out, id, as, hide)
	} else {
		warnings, err = compose.ExportTo(store, output, id, as, hide, force)
	}
	for _, w := range warnings {
		s.hint("%s", w)
	}
	return exit.Failure(err)
}

func (s *sessionsCLI) adoptCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "adopt DIR",
		Short:   "bring the sessions of this project from the folder that it was in",
		Long:    "adopt brings the sessions and the memory that a project had before its folder was moved from DIR\nto where you are.",
		Example: "  mv ~/shop ~/src/shop && cd ~/src/shop && buddy sessions adopt ~/shop",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := compose.Sessions()
			if err != nil {
				return exit.Failure(err)
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return exit.Failure(err)
			}
			m, err := sessions.Adopt(store, dir)
			if err != nil {
				return exit.Failure(err)
			}
			if m.Busy > 0 {
				s.hint("%s in use stayed: end it and adopt again", texts.Plural(m.Busy, "session"))
			}
			return s.print("%s moved to %s", texts.Plural(m.Sessions, "session"), store.Path())
		},
	}
}

func (s *sessionsCLI) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "import FILE",
		Short:   "add a session that someone exported as JSON",
		Long:    "import adds a session that was exported with --format json to this folder; a FILE of - is\nstdin. It can be read; to go on with it, say that you trust it: buddy sessions trust ID.",
		Example: "  buddy sessions import session.json\n  ssh web-02 buddy sessions export last --format json | buddy sessions import -",
		Args:    cobra.ExactArgs(1),

		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return []cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := compose.Sessions()
			if err != nil {
				return exit.Failure(err)
			}
			in := s.in
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return exit.Failure(err)
				}
				defer func() { _ = f.Close() }()
				in = f
			}
			id, err := store.Import(in)
			if err != nil {
				return exit.Failure(fmt.Errorf("%s: %w", args[0], err))
			}
			s.hint("it is read-only until you trust it: buddy sessions trust %s", id)
			return s.print("%s", id)
		},
	}
}
