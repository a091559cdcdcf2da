package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/input"
	"buddy/config"
)

func (s *configCLI) setCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "set KEY VALUE...",
		Short: "change a setting in your file",
		Long: "set changes one setting in your file and keeps everything else, including comments. A list takes\n" +
			"one VALUE per entry, or one VALUE in TOML. If VALUE is -, it is read from stdin; use that for API\n" +
			"keys. An invalid value changes nothing. --unset removes a setting. Write values that start with\n" +
			"a dash after --.",
		Example: "  buddy config set ui.theme light\n  buddy config set models.work.api_base_url https://api.example.com/v1\n" +
			"  buddy config set models.work.api_key - < key\n  buddy config set tools.env_allow GITHUB_TOKEN 'CI_*'\n  buddy config set --unset ui.theme",
		Args: cobra.MinimumNArgs(1),

		ValidArgsFunction: s.completeKey,
		RunE: func(_ *cobra.Command, args []string) error {
			if s.unset != (len(args) == 1) {
				return exit.Usage("config set takes a KEY and a VALUE, or --unset and a KEY")
			}
			return s.set(args[0], args[1:])
		},
	}
	c.Flags().BoolVar(&s.unset, "unset", false, "remove the setting from the file")
	return c
}

func (s *configCLI) set(key string, values []string) error {
	if len(values) == 1 && values[0] == "-" {
		var err error
		if values[0], err = readValue(s.in); err != nil {
			return exit.Failure(err)
		}
	}
	note, err := compose.ChangeSetting(s.options, key, values)
	if note != "" {
		s.hint("%s", note)
	}
	return err
}

// maxValue limits a value from stdin, in bytes.
const maxValue = 64 << 10

// readValue reads a value without its line end.
func readValue(in io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxValue+1))
	if err == nil && len(data) > maxValue {
		err = errors.New("is too long")
	}
	if err != nil {
		return "", fmt.Errorf("stdin: %w", err)
	}
	return string(bytes.TrimRight(data, "\r\n")), nil
}

func (s *configCLI) editCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "edit",
		Short: "open your file in your editor, then check it",
		Long: "edit opens your settings in $VISUAL, $EDITOR or vi. A new file starts as a commented template.\n" +
			"When you leave the editor, buddy checks the settings; it never changes your text.",
		Example: "  buddy config edit\n  EDITOR='code --wait' buddy config edit",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return s.edit() },
	}
}

func (s *configCLI) edit() error {
	path := config.UserFile(s.options.Config)
	if path == "" {
		return exit.Usage("can't find your home folder: give the settings file with --config FILE")
	}
	if err := compose.ByPerson(path); err != nil {
		return err
	}
	if _, err := config.WriteTemplate(path); err != nil {
		return exit.Failure(err)
	}
	config.RefreshSchema(path)
	answers := bufio.NewReader(s.in)
	for {
		if err := input.RunEditor(input.Editor(), path, s.in, s.out, s.err); err != nil {
			return exit.Failure(err)
		}
		err := s.check(path)
		if err == nil || !term.IsTerminal(int(s.in.Fd())) {
			return err
		}
		_, _ = fmt.Fprint(s.err, "buddy: Enter to edit again, q to keep it as it is: ")
		line, readErr := answers.ReadString('\n')
		if readErr != nil || strings.TrimSpace(line) != "" {
			return err
		}
	}
}
