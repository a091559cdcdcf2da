package cli

import (
	"github.com/spf13/cobra"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/config"
)

func (s *configCLI) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "write buddy.toml from an old agent.toml",
		Long: "migrate writes ~/.config/buddy/buddy.toml from ~/.config/agent/agent.toml, and ./buddy.toml from\n" +
			"./agent.toml. It renames outdated keys; comments stay on lines that don't change. It never\n" +
			"overwrites a file, and keeps the old files, which buddy then no longer reads. It prints what it changed.",
		Example: "  buddy config migrate",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return s.migrate() },
	}
}

func (s *configCLI) migrate() error {
	if s.options.Config != "" {
		return exit.Usage("config migrate takes no --config: it migrates ~/.config/agent/agent.toml and ./agent.toml")
	}
	all := config.Migrations()
	if len(all) == 0 {
		return s.print("there is no old settings file; nothing was written")
	}
	var failed error
	for _, m := range all {
		err := compose.ByPerson(m.To)
		var did []string
		if err == nil {
			did, err = m.Run()
		}
		if err != nil {
			failed = exit.Failure(err)
			s.hint("%v", err)
			continue
		}
		if err := s.print("%s was written from %s, which you can delete now", m.To, m.From); err != nil {
			return err
		}
		for _, line := range did {
			if err := s.print("  %s", line); err != nil {
				return err
			}
		}
	}
	if failed != nil {
		return exit.Error{Code: exit.Failed}
	}
	return nil
}
