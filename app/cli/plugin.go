package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/project"
	"buddy/extensions/plugin/install"
	"buddy/texts"
	"buddy/views/markup"
)

type pluginCLI struct{ *cli }

// maxChanges limits the changed files that update prints for a plugin.
const maxChanges = 40

func (s *pluginCLI) command() *cobra.Command {
	return group(&cobra.Command{
		Use:   "plugin",
		Short: "add plugins from git repositories, update and remove them",
		Long: "Plugins bring skills, commands, subagents, output styles, hooks and servers, in the form of Claude\n" +
			"Code. add fetches one commit of a git repository into a folder of buddy's. Nothing in a plugin runs\n" +
			"until you trust it with buddy trust, and again after an update that changes its files. Repositories\n" +
			"that list plugins (.claude-plugin/marketplace.json) work, too. In a session, /plugin lists plugins.",
		Example: "  buddy plugin add https://git.example.org/tidy.git@v1.2\n  buddy plugin add anthropics/claude-plugins-official\n  buddy plugin add anthropics/claude-plugins-official commit-commands\n  buddy plugin update",
	}, s.list(), s.add(), s.update(), s.remove())
}

func (s *pluginCLI) list() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "list this folder's plugins, where they come from and whether you trust them",
		Example: "  buddy plugin list\n  buddy plugin list --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runCommand(c.Context(), s.cli, "plugin") },
	}
	s.jsonFlag(c, "print machine-readable output")
	return c
}

func (s *pluginCLI) add() *cobra.Command {
	return &cobra.Command{
		Use:   "add REPOSITORY[@REF] [NAME]",
		Short: "add a plugin from a git repository",
		Long: "REPOSITORY is an https or ssh address, OWNER/REPO for GitHub, or the absolute path of a folder. REF is\n" +
			"a tag, a branch or a full commit; the default is the repository's default branch. NAME is a plugin\n" +
			"that the repository lists in its marketplace.json; without NAME, buddy prints that list.",
		Example: "  buddy plugin add https://git.example.org/tidy.git@v1.2\n  buddy plugin add git@git.example.org:team/tidy.git\n  buddy plugin add anthropics/claude-plugins-official commit-commands",
		Args:    cobra.RangeArgs(1, 2),
		RunE: s.changing(func(ctx context.Context, store install.Store, args []string) error {
			from, err := install.ParseSource(args[0])
			if err != nil {
				return exit.Usage("%v", err)
			}
			s.hint("fetching %s", from)
			r, err := store.Add(ctx, from, strings.Join(args[1:], ""))
			if index, ok := errors.AsType[*install.IndexError](err); ok {
				err = errors.Join(s.printIndex(args[0], index.Index), err)
			}
			if err != nil {
				return err
			}
			if err := s.printAdded(r); err != nil {
				return err
			}
			return s.askTrust(r.Name, true)
		}),
	}
}

// printIndex prints the plugins that a repository lists.
func (s *pluginCLI) printIndex(from string, index install.Index) error {
	for _, e := range index.Entries {
		line := texts.OneLine(e.Name + " " + e.Version)
		if e.About != "" {
			line += "  " + e.About
		}
		if e.Problem != "" {
			line += "  (not available: " + e.Problem + ")"
		}
		if err := s.print("%s", markup.Plain(line)); err != nil {
			return err
		}
	}
	return s.print("To add one: buddy plugin add %s NAME", markup.Plain(from))
}

func (s *pluginCLI) printAdded(r install.Record) error {
	from := r.Source().String()
	if r.From != "" {
		from = r.From
	}
	if err := s.print("added %s %s from %s at commit %s", r.Name, r.Version, markup.Plain(from), r.Commit); err != nil {
		return err
	}
	if len(r.Submodules) > 0 {
		s.hint("left out its submodules: %s", texts.Some(r.Submodules))
	}
	return nil
}

// askTrust says how to trust a plugin. full also prints everything in it.
func (s *pluginCLI) askTrust(name string, full bool) error {
	checks, err := s.checkParts(".")
	if err != nil {
		return err
	}
	for _, c := range checks {
		if c.String() != "plugin:"+name || c.State.Trusted {
			continue
		}
		if full {
			if err := s.showPart(c); err != nil {
				return err
			}
		}
		state := "runs nothing until you trust it"
		if c.State.Changed {
			state = "is off, because it changed since you trusted it"
		}
		s.hint("the plugin %s %s; to review and trust it: buddy trust --part plugin:%[1]s", name, state)
	}
	return nil
}

func (s *pluginCLI) update() *cobra.Command {
	force := false
	c := &cobra.Command{
		Use:   "update [NAME]",
		Short: "fetch the newest commit of a plugin's tag or branch, or of all plugins",
		Long: "update prints the old and the new commit and the changed files. A plugin whose files changed is off\n" +
			"until you trust it again. A plugin that was added with a full commit never changes.",
		Example:           "  buddy plugin update\n  buddy plugin update tidy",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.names,
		RunE: s.changing(func(ctx context.Context, store install.Store, args []string) error {
			names, err := store.Names()
			if err != nil {
				return err
			}
			if len(args) == 0 && len(names) == 0 {
				return s.print("No plugin was added from a git repository.")
			}
			if len(args) > 0 {
				names = args
			}
			var errs []error
			for _, name := range names {
				errs = append(errs, s.updateOne(ctx, store, name, force))
			}
			return errors.Join(errs...)
		}),
	}
	c.Flags().BoolVar(&force, "force", false, "replace files that you changed in the plugin's folder, without a question")
	return c
}

func (s *pluginCLI) updateOne(ctx context.Context, store install.Store, name string, force bool) error {
	var old, fresh install.Record
	err := s.unlessEdited(force, "Replace them?", func(force bool) (err error) {
		old, fresh, err = store.Update(ctx, name, force)
		return err
	})
	if err != nil {
		return err
	}
	changes := install.Compare(old.Files, fresh.Files)
	commits := fmt.Sprintf("commit %.12s → %.12s", old.Commit, fresh.Commit)
	switch {
	case old.Commit == fresh.Commit:
		commits = fmt.Sprintf("still at commit %.12s of %s", old.Commit, old.Source())
	case len(changes) == 0:
		commits += ", the same files"
	}
	if err := s.print("%s  %s", name, markup.Plain(commits)); err != nil {
		return err
	}
	for i, c := range changes {
		if i == maxChanges {
			return errors.Join(s.print("  and %d more", len(changes)-i), s.askTrust(name, false))
		}
		if err := s.print("  %-8s %s", c.How, markup.Plain(c.File)); err != nil {
			return err
		}
	}
	return s.askTrust(name, false)
}

// unlessEdited calls do, and again with force if the person agrees that it replaces or removes edited files.
func (s *pluginCLI) unlessEdited(force bool, question string, do func(force bool) error) error {
	err := do(force)
	edited, ok := errors.AsType[*install.EditedError](err)
	if !ok {
		return err
	}
	if !term.IsTerminal(int(s.in.Fd())) {
		return fmt.Errorf("%w; save what you need, then use --force", err)
	}
	for _, c := range edited.Files {
		s.hint("%s after it was fetched: %s", c.How, c.File)
	}
	if !s.agreed(fmt.Sprintf("You changed files of the plugin %s. %s [y/N] ", edited.Name, question)) {
		return fmt.Errorf("the plugin %s is unchanged", edited.Name)
	}
	return do(true)
}

func (s *pluginCLI) remove() *cobra.Command {
	force := false
	c := &cobra.Command{
		Use:               "remove NAME",
		Short:             "remove a plugin that was added from a git repository, and your trust in it",
		Long:              "remove asks first if you changed files in the plugin's folder.",
		Example:           "  buddy plugin remove tidy",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.names,
		RunE: s.changing(func(ctx context.Context, store install.Store, args []string) error {
			name := args[0]
			err := s.unlessEdited(force, "Remove it anyway?", func(force bool) error {
				return store.Remove(ctx, name, force, func() error { return project.ForgetPlugin(name) })
			})
			if err != nil {
				return err
			}
			return s.print("removed %s", name)
		}),
	}
	c.Flags().BoolVar(&force, "force", false, "remove the plugin without a question, even if you changed its files")
	return c
}

// changing returns a command that changes the installed plugins: only the person may do that. Ctrl+C cancels it.
func (s *pluginCLI) changing(run func(context.Context, install.Store, []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		if err := compose.ByPerson(); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return exit.Failure(run(ctx, project.Installed(), args))
	}
}

// names completes the installed plugins.
func (*pluginCLI) names(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, onlyThese
	}
	names, _ := project.Installed().Names() // an unreadable folder offers none
	return names, onlyThese
}
