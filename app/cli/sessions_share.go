package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"buddy/app/commands"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/sessions"
	"buddy/texts"
)

// archive is the format that moves a session to another machine whole.
const archive = "archive"

func (s *sessionsCLI) exportCommand() *cobra.Command {
	format, output, force := "md", "", false
	c := &cobra.Command{
		Use:   "export ID",
		Short: "a session as Markdown, JSON or a page of HTML for others, or as an archive",
		Long: "export prints a session for others to read. Keys and what looks like one are taken out, but\n" +
			"read it before you share it. md and html are for people; json holds all events, for import.\n\n" +
			"archive is for yourself on another machine: a tar.gz with all that the session has, outputs of commands\n" +
			"as well, from which nothing is taken out. import reads it, too.",
		Example: "  buddy sessions export last > session.md\n  buddy sessions export 7f3a --format html --output session.html\n" +
			"  buddy sessions export 7f3a --format archive | ssh web-02 buddy sessions import -",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return s.export(args[0], format, output, force) },
	}
	c.Flags().StringVar(&format, "format", format, "the `format`: md, json, html or archive")
	c.Flags().StringVarP(&output, "output", "o", "", "a new `file` to write instead of stdout")
	c.Flags().BoolVar(&force, "force", false, "write over a file that exists")
	complete(c, "format", onlyThese, func() []cobra.Completion {
		var all []cobra.Completion
		for _, f := range sessions.ExportFormats {
			all = append(all, string(f))
		}
		return append(all, archive)
	})
	c.ValidArgsFunction = completeSessions
	return c
}

func (s *sessionsCLI) export(arg, format, output string, force bool) error {
	as := sessions.ExportFormat(format)
	if format != archive && !slices.Contains(sessions.ExportFormats, as) {
		return exit.Usage("--format %q is not known (have: md, json, html, archive)", format)
	}
	if format == archive && output == "" && term.IsTerminal(int(s.out.Fd())) {
		return exit.Usage("an archive is not for a terminal: say --output session.tar.gz")
	}
	store, id, err := meant(arg)
	if err != nil {
		return exit.Failure(err)
	}
	c, _, _, err := compose.LoadConfig(s.options)
	if err != nil {
		return err
	}
	var warnings []string
	write := func(w io.Writer) (err error) {
		if format == archive {
			return store.Archive(w, id)
		}
		warnings, err = store.Export(w, id, as, compose.Redactor(c))
		return err
	}
	if output == "" {
		err = write(s.out)
	} else {
		err = commands.WriteExport(output, force, write)
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
		Use:   "import FILE",
		Short: "add a session that was exported as JSON or as an archive",
		Long: "import adds a session that was exported with --format json or --format archive to this folder; a FILE\n" +
			"of - is stdin. It can be read; to go on with it, say that you trust it: buddy sessions trust ID.",
		Example: "  buddy sessions import session.json\n  ssh web-02 buddy sessions export last --format archive | buddy sessions import -",
		Args:    cobra.ExactArgs(1),

		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return []cobra.Completion{"json", "gz"}, cobra.ShellCompDirectiveFilterFileExt
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
