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

// archive is the format that moves a whole session to another machine.
const archive = "archive"

func (s *sessionsCLI) exportCommand() *cobra.Command {
	format, output, force := "md", "", false
	c := &cobra.Command{
		Use:   "export ID",
		Short: "export a session as Markdown, HTML, JSON or an archive",
		Long: "export prints a session for others to read. Texts that look like keys are removed, but read the\n" +
			"export before you share it. md and html are for people: the html file is a page with a table of contents,\n" +
			"a search field and the pictures, and loads nothing. json holds all events, for import.\n\n" +
			"archive is for your own use on another machine: a tar.gz with the whole session, including command\n" +
			"output. Nothing is removed from it. import reads archives, too.",
		Example: "  buddy sessions export last > session.md\n  buddy sessions export 7f3a --format html --output session.html\n" +
			"  buddy sessions export 7f3a --format archive | ssh web-02 buddy sessions import -",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return s.export(args[0], format, output, force) },
	}
	c.Flags().StringVar(&format, "format", format, "the `format`: md, json, html or archive")
	c.Flags().StringVarP(&output, "output", "o", "", "a new `file` to write instead of stdout")
	c.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
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
		return exit.Usage("unknown --format %q (have: md, json, html, archive)", format)
	}
	if format == archive && output == "" && term.IsTerminal(int(s.out.Fd())) {
		return exit.Usage("an archive can't be printed to a terminal: use --output session.tar.gz")
	}
	store, id, err := meant(arg)
	if err != nil {
		return exit.Failure(err)
	}
	c, _, _, err := compose.LoadConfig(s.options)
	if err != nil {
		return err
	}
	var done sessions.Exported
	write := func(w io.Writer) (err error) {
		if format == archive {
			return store.Archive(w, id)
		}
		done, err = store.Export(w, id, as, compose.Redactor(c))
		return err
	}
	if output == "" {
		err = write(s.out)
	} else {
		err = commands.WriteExport(output, force, write)
	}
	for _, w := range done.Warnings {
		s.hint("%s", w)
	}
	if err == nil && format != archive {
		s.hint("%s; read the export before you share it", done.Note())
	}
	return exit.Failure(err)
}

func (s *sessionsCLI) adoptCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "adopt DIR",
		Short:   "take over a project's sessions after moving its folder",
		Long:    "adopt takes over a project's sessions and memory after you moved its folder from DIR to the\ncurrent folder.",
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
				s.hint("%s in use was not moved: end it and run adopt again", texts.Plural(m.Busy, "session"))
			}
			return s.print("%s moved to %s", texts.Plural(m.Sessions, "session"), store.Path())
		},
	}
}

func (s *sessionsCLI) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "import a session from a JSON file or an archive",
		Long: "import adds a session exported with --format json or --format archive to this folder. If FILE is -,\n" +
			"it is stdin. You can read the session; to continue it, trust it first: buddy sessions trust ID.",
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
