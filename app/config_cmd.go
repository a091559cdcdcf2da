package app

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"buddy/app/keymap"
	"buddy/config"
)

// configCLI is what the commands of `buddy config` share.
type configCLI struct {
	flags *flags
	in    *os.File
	out   *os.File // results
	err   *os.File // all else
	style plainText
	json  bool
	unset bool
}

func configCommand(f *flags, stdin, stdout, stderr *os.File) *cobra.Command {
	s := &configCLI{flags: f, in: stdin, out: stdout, err: stderr, style: newPlainText(stdout, stderr)}
	c := &cobra.Command{
		Use:   "config",
		Short: "show, check and change the settings",
		Long: "config shows the settings that are in effect and where each comes from, finds every mistake in\n" +
			"their files, and changes yours. --config FILE works on that file instead of the usual ones.",
		Example: "  buddy config show\n  buddy config check\n  buddy config set ui.theme light\n  buddy config edit",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.pathCommand(), s.showCommand(), s.checkCommand(), s.editCommand(), s.getCommand(), s.setCommand(), s.schemaCommand())
	return c
}

func (s *configCLI) print(text string) error {
	_, err := fmt.Fprintln(s.out, s.style.out(text))
	return failed(err)
}

func (s *configCLI) hint(format string, args ...any) {
	_, _ = fmt.Fprintln(s.err, "buddy: "+s.style.err(fmt.Sprintf(format, args...)))
}

// encode prints a value as one line of JSON.
func (s *configCLI) encode(v any) error {
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	return failed(enc.Encode(v))
}

// load returns what is in effect.
func (s *configCLI) load() (config.Config, config.Index, []string, error) {
	c, index, notices, err := config.Load(config.Options{Config: s.flags.config, Model: s.flags.model, BaseURL: s.flags.baseURL, Trust: trustStore()})
	if err != nil {
		err = exit{code: exitUsage, text: err.Error() + "; buddy config check finds all mistakes"}
	}
	if s.flags.theme != "" && err == nil {
		c.UI.Theme, index["ui.theme"] = s.flags.theme, "--theme"
	}
	return c, index, notices, err
}

func (s *configCLI) pathCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "path",
		Short:   "files that settings come from, the strongest first",
		Long:    "path prints the files that settings may come from, the strongest first, and whether each is there.",
		Example: "  buddy config path\n  buddy config path --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, f := range config.Sources(s.flags.config, trustStore()) {
				var err error
				if s.json {
					err = s.encode(f)
				} else {
					state := "missing"
					if f.Exists {
						state = "exists "
					}
					err = s.print(strings.TrimRight(fmt.Sprintf("%s  %-8s  %s  %s", state, f.Kind, f.Path, parenthesis(f.Note)), " "))
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&s.json, "json", false, "one JSON object a line")
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
		Short: "every setting that is in effect, and where it comes from",
		Long: "show prints the settings that are in effect as TOML, each with the file and line, the variable or\n" +
			"the option that it comes from. Keys of models are never shown.",
		Example: "  buddy config show\n  buddy config show --json | jq 'select(.source != \"default\")'",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return s.show() },
	}
	c.Flags().BoolVar(&s.json, "json", false, "one JSON object a line")
	return c
}

func (s *configCLI) show() error {
	c, index, notices, err := s.load()
	if err != nil {
		return err
	}
	for _, n := range notices {
		s.hint("%s", n)
	}
	settings := c.Settings(index)
	if !s.json {
		text := config.Format(settings, func(v config.Setting) string { return v.Source })
		if c.Problem != "" {
			text += "\n# " + c.Problem + "\n"
		}
		_, err := io.WriteString(s.out, s.style.out(text))
		return failed(err)
	}
	for _, v := range settings {
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
		Short:   "the value of one setting that is in effect",
		Long:    "get prints the value of a setting that is in effect: strings as they are, lists with one entry a\nline. A key of a model is never shown.",
		Example: "  buddy config get ui.theme\n  buddy config get models.work.model",
		Args:    cobra.ExactArgs(1),

		ValidArgsFunction: s.completeKey,
		RunE: func(_ *cobra.Command, args []string) error {
			c, index, _, err := s.load()
			if err != nil {
				return err
			}
			v, err := config.Lookup(c.Settings(index), args[0])
			if err == nil {
				err = builtInKeys(&v)
			}
			if err != nil {
				return exit{code: exitUsage, text: err.Error()}
			}
			if s.json {
				return s.encode(v)
			}
			return s.print(v.Text())
		},
	}
	c.Flags().BoolVar(&s.json, "json", false, "with its source, as one JSON object")
	return c
}

// completeKey offers the keys of settings to a shell.
func (s *configCLI) completeKey(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	c, index, _, err := s.load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var keys []string
	for _, v := range c.Settings(index) {
		if strings.HasPrefix(v.Key, begun) && !strings.Contains(v.Key, "[") { // not of rules
			keys = append(keys, v.Key)
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// builtInKeys fills in the keys of an action that has none of the person's own.
func builtInKeys(v *config.Setting) error {
	action, ok := strings.CutPrefix(v.Key, "keys.")
	if !ok || v.Value != nil {
		return nil
	}
	if err := keymap.Default().Rebind(map[string][]string{action: {}}); err != nil {
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
		Short: "find every mistake in the settings",
		Long: "check prints every mistake in a FILE, or in the files that settings come from, as one line: the\n" +
			"place, the key, and what is allowed. It exits 0 when there is none and 2 otherwise. What comes\n" +
			"after a mistake in the syntax can't be checked before that is right.",
		Example: "  buddy config check\n  buddy config check ./buddy.toml\n  buddy config check --json",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return s.check(strings.Join(args, "")) },
	}
	c.Flags().BoolVar(&s.json, "json", false, "one JSON object a line")
	return c
}

// mistakeRow is a mistake as `check --json` prints it.
type mistakeRow struct {
	Place string `json:"place"` // file:line:column
	Key   string `json:"key,omitempty"`
	Cause string `json:"cause"`
}

func (s *configCLI) check(file string) error {
	reports := s.reports(file)
	if len(reports) == 0 {
		return s.print("there are no settings files; everything is as built in")
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
				err = s.print(e.Error())
			}
			if err != nil {
				return err
			}
		}
	}
	if wrong > 0 {
		return exit{code: exitUsage}
	}
	var names []string
	for _, r := range reports {
		names = append(names, r.File)
	}
	if s.json {
		return nil
	}
	return s.print("no mistakes in " + strings.Join(names, ", "))
}

// reports checks a file, or all that are read.
func (s *configCLI) reports(file string) []*config.Report {
	c := coloursOf(s.flags)
	if file = cmp.Or(file, s.flags.config); file != "" {
		r := config.Check(file)
		checkOwners(r, c, false)
		return []*config.Report{r}
	}
	var user, project []*config.Report
	sources := config.Sources("", trustStore())
	for i := range sources { // the person's first: a project's may name their profiles
		f := sources[len(sources)-1-i]
		if !f.Read {
			continue
		}
		if f.Kind == "user" {
			r := config.Check(f.Path)
			checkOwners(r, c, false)
			user = append(user, r)
			continue
		}
		if f.Note == "your own file" {
			continue
		}
		var among []config.Profile
		for _, r := range user {
			among = append(among, r.Config.Models...)
		}
		r := config.Check(f.Path, among...)
		checkOwners(r, c, true)
		project = append(project, r)
	}
	return append(project, user...)
}

func (s *configCLI) editCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "edit",
		Short: "open your file in your editor, and check it after that",
		Long: "edit opens your settings in $VISUAL, $EDITOR or vi, and begins with the commented template when\n" +
			"there are none. After that it checks them; the text stays as you left it.",
		Example: "  buddy config edit\n  EDITOR='code --wait' buddy config edit",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return s.edit() },
	}
}

func (s *configCLI) edit() error {
	path := config.UserFile(s.flags.config)
	if path == "" {
		return usage("no home is known: name a file with --config")
	}
	if _, err := config.WriteTemplate(path); err != nil {
		return failed(err)
	}
	config.RefreshSchema(path)
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	answers := bufio.NewReader(s.in)
	for {
		c := exec.CommandContext(context.Background(), "sh", "-c", editor+` "$1"`, "sh", path)
		c.Stdin, c.Stdout, c.Stderr = s.in, s.out, s.err
		if err := c.Run(); err != nil {
			return failed(fmt.Errorf("editor %q: %w", editor, err))
		}
		err := s.check(path)
		if err == nil || !term.IsTerminal(int(s.in.Fd())) {
			return err
		}
		_, _ = fmt.Fprint(s.err, "buddy: Enter edits again, q leaves it as it is: ")
		line, readErr := answers.ReadString('\n')
		if readErr != nil || strings.TrimSpace(line) != "" {
			return err
		}
	}
}

func (s *configCLI) setCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "set KEY VALUE...",
		Short: "change a setting in your file",
		Long: "set changes one setting in your file and leaves the rest as it is, comments too. A list takes a\n" +
			"VALUE for each entry, or one as TOML has it. A VALUE of - is read from stdin, which is where a\n" +
			"key should come from. A wrong value changes nothing. --unset takes a setting out. Values that\n" +
			"begin with a dash come after --.",
		Example: "  buddy config set ui.theme light\n  buddy config set models.work.api_base_url https://api.example.com/v1\n" +
			"  buddy config set models.work.api_key - < key\n  buddy config set tools.env_allow GITHUB_TOKEN 'CI_*'\n  buddy config set --unset ui.theme",
		Args: cobra.MinimumNArgs(1),

		ValidArgsFunction: s.completeKey,
		RunE: func(_ *cobra.Command, args []string) error {
			if s.unset != (len(args) == 1) {
				return usage("config set takes a KEY and a VALUE, or --unset and a KEY")
			}
			return s.set(args[0], args[1:])
		},
	}
	c.Flags().BoolVar(&s.unset, "unset", false, "take the setting out of the file")
	return c
}

func (s *configCLI) set(key string, values []string) error {
	path := config.UserFile(s.flags.config)
	d, err := config.OpenDocument(path)
	if err != nil {
		return exit{code: exitUsage, text: err.Error()}
	}
	defer d.Close()
	if err := s.inOrder(d); err != nil {
		return err
	}
	if len(values) == 1 && values[0] == "-" {
		if values[0], err = readValue(s.in); err != nil {
			return failed(err)
		}
	}
	found := true
	if s.unset {
		found, err = d.Unset(key)
	} else {
		err = d.Set(key, values)
	}
	if err != nil {
		return exit{code: exitUsage, text: err.Error()}
	}
	if !found {
		s.hint("%s is not set in %s", key, path)
		return nil
	}
	r := d.Check()
	checkOwners(r, coloursOf(s.flags), false)
	if wrong := r.Mistakes(); len(wrong) > 0 {
		// Its place would be one in a text that nobody has.
		return exit{code: exitUsage, text: (&config.Error{Key: wrong[0].Key, Err: wrong[0].Err}).Error() + "; nothing was changed"}
	}
	if err := d.Save(); err != nil {
		return failed(err)
	}
	s.warnOverridden(key)
	return nil
}

// inOrder refuses a file that has mistakes already.
func (s *configCLI) inOrder(d *config.Document) error {
	r := d.Check()
	checkOwners(r, coloursOf(s.flags), false)
	wrong := r.Mistakes()
	if len(wrong) == 0 {
		return nil
	}
	return exit{code: exitUsage, text: wrong[0].Error() + "; nothing was changed: use buddy config edit"}
}

// warnOverridden says when what was set has no effect because something beats the file.
func (s *configCLI) warnOverridden(key string) {
	c, index, _, err := s.load()
	if err != nil || s.unset {
		return
	}
	v, err := config.Lookup(c.Settings(index), key)
	if file := config.UserFile(s.flags.config); err == nil && !strings.HasPrefix(v.Source, file+":") && v.Source != "default" {
		s.hint("saved, but %s comes from %s now", v.Key, v.Source)
	}
}

// maxValue bounds what is read from stdin, in bytes.
const maxValue = 64 << 10

// readValue reads a value without the line's end.
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

func (s *configCLI) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "the JSON Schema of the settings, for editors",
		Long: "schema prints a JSON Schema of the settings, for editors that check and complete TOML (Taplo, VS\n" +
			"Code). The first start writes it beside your settings, whose first line names it.",
		Example: "  buddy config schema > buddy.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.out.Write(config.Schema())
			return failed(err)
		},
	}
}
