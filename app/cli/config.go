package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/keymap"
	"buddy/app/project"
	"buddy/config"
	"buddy/views/markup"
)

// configCLI holds what the commands of `buddy config` share.
type configCLI struct {
	*cli
	unset bool
}

func (c *cli) configCommand() *cobra.Command {
	s := &configCLI{cli: c}
	return group(&cobra.Command{
		Use:   "config",
		Short: "show, check and change settings",
		Long: "config shows the settings in effect and where each comes from, finds every error in their\n" +
			"files, and changes your settings file. --config FILE uses that file instead of the usual ones.",
		Example: "  buddy config show\n  buddy config check\n  buddy config set ui.theme light\n  buddy config edit",
	}, s.pathCommand(), s.showCommand(), s.checkCommand(), s.editCommand(), s.getCommand(), s.setCommand(), s.migrateCommand(), s.schemaCommand())
}

func (s *configCLI) pathCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "path",
		Short:   "list settings files, highest priority first",
		Long:    "path prints the possible settings files, highest priority first, and whether each exists.",
		Example: "  buddy config path\n  buddy config path --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, f := range config.Sources(s.options.Config, project.TrustStore()) {
				var err error
				if s.json {
					err = s.encode(f)
				} else {
					state := "missing"
					if f.Exists {
						state = "exists "
					}
					err = s.print("%s", strings.TrimRight(fmt.Sprintf("%s  %-8s  %s  %s", state, f.Kind, f.Path, parenthesis(f.Note)), " "))
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	s.jsonFlag(c, "print one JSON object per line")
	return c
}

func parenthesis(note string) string {
	if note == "" {
		return ""
	}
	return "(" + note + ")"
}

func (s *configCLI) showCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "show",
		Short: "show all settings in effect and where each comes from",
		Long: "show prints the settings in effect as TOML, each with its source: a file and line, a variable or\n" +
			"an option. API keys are never shown.",
		Example: "  buddy config show\n  buddy config show --json | jq 'select(.source != \"default\")'",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return s.show() },
	}
	s.jsonFlag(c, "print one JSON object per line")
	return c
}

func (s *configCLI) show() error {
	settings, err := compose.SettingsOf(s.options)
	if err != nil {
		return err
	}
	for _, n := range settings.Notices {
		s.hint("%s", n)
	}
	c := settings.Config
	if !s.json {
		text := config.Format(settings.All, func(v config.Setting) string { return v.Source })
		if c.Problem != "" {
			text += "\n# " + c.Problem + "\n"
		}
		_, err := io.WriteString(s.out, markup.Answer(text))
		return exit.Failure(err)
	}
	for _, v := range settings.All {
		if err := s.encode(v); err != nil {
			return err
		}
	}
	for _, key := range c.Project.Ignored {
		if err := s.encode(ignoredRow{Key: key, Ignored: "the folder is not trusted"}); err != nil {
			return err
		}
	}
	return nil
}

// ignoredRow is a key of a project's file that has no effect.
type ignoredRow struct {
	Key     string `json:"key"`
	Ignored string `json:"ignored"` // why
}

func (s *configCLI) getCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "get KEY",
		Short:   "print the value of one setting",
		Long:    "get prints the value of a setting in effect: strings as they are, lists with one entry per\nline. An API key is never shown.",
		Example: "  buddy config get ui.theme\n  buddy config get models.work.model",
		Args:    cobra.ExactArgs(1),

		ValidArgsFunction: s.completeKey,
		RunE: func(_ *cobra.Command, args []string) error {
			settings, err := compose.SettingsOf(s.options)
			if err != nil {
				return err
			}
			v, err := config.Lookup(settings.All, args[0])
			if err == nil {
				err = builtInKeys(&v)
			}
			if err != nil {
				return exit.Mistake(err)
			}
			if s.json {
				return s.encode(v)
			}
			return s.print("%s", v.Text())
		},
	}
	s.jsonFlag(c, "print the value and its source as one JSON object")
	return c
}

// completeKey completes keys of settings.
func (s *configCLI) completeKey(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	settings, err := compose.SettingsOf(s.options)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var keys []string
	for _, v := range settings.All {
		if strings.HasPrefix(v.Key, prefix) && !strings.Contains(v.Key, "[") { // without the keys of rules
			keys = append(keys, v.Key)
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// builtInKeys sets the value of v, a setting with keys, to the built-in keys of its action, unless the user has bound
// the action.
func builtInKeys(v *config.Setting) error {
	action, ok := strings.CutPrefix(v.Key, "keys.")
	if !ok || v.Value != nil {
		return nil
	}
	if _, err := keymap.Default().Rebind(map[string][]string{action: {}}); err != nil {
		return err // there is no such action
	}
	names := []string{}
	for _, k := range keymap.Default().Keys(keymap.Action(action)) {
		names = append(names, k.String())
	}
	v.Value = names
	return nil
}

func (s *configCLI) checkCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "find every error in the settings",
		Long: "check prints every error in FILE, or in all settings files, one per line: the place, the key,\n" +
			"and what is allowed. It exits with 0 if there are no errors, and with 2 otherwise. Lines after a\n" +
			"syntax error can't be checked until that error is fixed.",
		Example: "  buddy config check\n  buddy config check ./buddy.toml\n  buddy config check --json",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return s.check(strings.Join(args, "")) },
	}
	s.jsonFlag(c, "print one JSON object per line")
	return c
}

// mistakeRow is an error as `check --json` prints it.
type mistakeRow struct {
	Place string `json:"place"` // file:line:column
	Key   string `json:"key,omitempty"`
	Cause string `json:"cause"`
}

func (s *configCLI) check(file string) error {
	reports := s.reports(file)
	if len(reports) == 0 {
		return s.print("there are no settings files; all settings have their defaults")
	}
	wrong := 0
	for _, r := range reports {
		for _, n := range r.Notices {
			s.hint("%s", n)
		}
		for _, e := range r.Mistakes() {
			wrong++
			var err error
			if s.json {
				err = s.encode(mistakeRow{e.Place, e.Key, e.Err.Error()})
			} else {
				err = s.print("%v", e)
			}
			if err != nil {
				return err
			}
		}
	}
	if wrong > 0 {
		return exit.Error{Code: exit.BadUsage}
	}
	var names []string
	for _, r := range reports {
		names = append(names, r.File)
	}
	if s.json {
		return nil
	}
	return s.print("no errors in %s", strings.Join(names, ", "))
}

// reports checks the given file, else the file of --config, else all settings files that buddy reads.
func (s *configCLI) reports(file string) []*config.Report {
	if file = cmp.Or(file, s.options.Config); file != "" {
		r := config.Check(file)
		compose.CheckSettings(r, false)
		return []*config.Report{r}
	}
	var user, there []*config.Report // reports on the user's files, and on the project's
	sources := config.Sources("", project.TrustStore())
	for i := range sources { // the user's files first, because a project's file may name the user's profiles
		f := sources[len(sources)-1-i]
		if !f.Read {
			continue
		}
		if f.Kind == "user" {
			r := config.Check(f.Path)
			compose.CheckSettings(r, false)
			user = append(user, r)
			continue
		}
		if f.Note == "your file" {
			continue
		}
		var among []config.Profile
		for _, r := range user {
			among = append(among, r.Config.Models...)
		}
		r := config.Check(f.Path, among...)
		compose.CheckSettings(r, true)
		there = append(there, r)
	}
	return append(there, user...)
}

func (s *configCLI) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "print the settings' JSON Schema, for editors",
		Long: "schema prints the settings' JSON Schema, for editors that check and complete TOML (Taplo, VS\n" +
			"Code). The first start saves it next to your settings file, whose first line refers to it.",
		Example: "  buddy config schema > buddy.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.out.Write(config.Schema())
			return exit.Failure(err)
		},
	}
}
