package config

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Tools is the section [tools]. Names of variables may have * for any text.
type Tools struct {
	EnvAllow []string // variables that commands get although their names look like secrets
	EnvDeny  []string // variables that commands never get
	Timeout  int      // seconds that a tool may run; commands have no limit
	Page     int      // bytes of a file or web page that the model gets at once at most
	Shell    string   // of commands: bash, zsh, dash, ash or sh; empty: bash, or sh where there is none
}

var toolsSection = section{
	name: "tools",
	doc: "How tools work, and what commands that the model runs get. A variable whose name looks like a secret (`…_KEY`, `…_TOKEN`, `…_SECRET`, " +
		"`…PASSWORD` and alike) is withheld from them, and so is every `api_key_env`; `/status` names what was withheld.",
	fields: []field{
		{
			name: "env_allow", short: "names of variables", access: mine,
			doc:   "Variables that commands get all the same, such as `GITHUB_TOKEN`. `*` stands for any text.",
			at:    func(c *Config, _ *Profile) any { return &c.Tools.EnvAllow },
			check: checkPattern,
		},
		{
			name: "env_deny", short: "names of variables", access: adds,
			doc:   "Variables that are withheld, too; it beats `env_allow`. A project's file may only add to it.",
			at:    func(c *Config, _ *Profile) any { return &c.Tools.EnvDeny },
			check: checkPattern,
		},
		{
			name: "timeout", short: "seconds, 1 to 86400", most: 86_400, access: mine,
			doc: "How long a tool may run, such as a search or a download. Commands and questions to you have no limit.",
			at:  func(c *Config, _ *Profile) any { return &c.Tools.Timeout },
		},
		{
			name: "page", short: "bytes, 1 to 200000", most: 200_000, access: mine,
			doc: "How much of a file or a web page the model gets at once at most. A model gets no more than a sixteenth of its window, and 8000 when that is small or not known.",
			at:  func(c *Config, _ *Profile) any { return &c.Tools.Page },
		},
		{
			name: "shell", short: "`auto`, `bash`, `zsh`, `dash`, `ash` or `sh`", access: mine,
			doc: "The shell that commands run in, on this machine or the target; `auto` is bash, or sh where there is no bash. " +
				"Its own start-up files are not read. In zsh you are asked about every command, because what only reads is known of the others.",
			at:    func(c *Config, _ *Profile) any { return &c.Tools.Shell },
			check: oneOf("value", autoShell, "bash", "zsh", "dash", "ash", "sh"),
		},
	},
}

// Environ returns what of an environment the commands that a model runs get, and the
// names of what is withheld from them, sorted.
func (c *Config) Environ(env []string) (passed, withheld []string) {
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if c.withholds(name) {
			withheld = append(withheld, name)
			continue
		}
		passed = append(passed, kv)
	}
	slices.Sort(withheld)
	return passed, slices.Compact(withheld)
}

func (c *Config) withholds(name string) bool {
	switch {
	case matches(c.Tools.EnvDeny, name):
		return true
	case matches(c.Tools.EnvAllow, name):
		return false
	}
	return secretName(name) || slices.ContainsFunc(c.Models, func(p Profile) bool { return p.KeyEnv == name })
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// What names of secrets end with, as a word of its own, and what they have in them. A
// name that ends with a place or a setting holds that: SSH_AUTH_SOCK, TOKEN_FILE.
var (
	secretEnds  = []string{"KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD", "PAT", "CREDENTIALS", "AUTH"}
	secretParts = []string{"SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "ACCESS_TOKEN", "AUTH_TOKEN"}
	noSecret    = []string{"DIR", "FILE", "PATH", "SOCK", "SOCKET", "PROFILE", "STORE", "COMMAND", "HELPER", "NAME", "TTY", "LENGTH", "TIMEOUT"}
	exempt      = []string{"PWD", "OLDPWD", "GOOGLE_APPLICATION_CREDENTIALS"} // the last is a path
)

// secretName reports whether a variable's name says that its value is a secret.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	if slices.Contains(exempt, name) {
		return false
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if slices.Contains(noSecret, last) {
		return false
	}
	for _, end := range []string{"PASSWORD", "PASSWD", "SECRET", "TOKEN", "APIKEY"} { // PGPASSWORD
		if strings.HasSuffix(last, end) {
			return true
		}
	}
	return slices.Contains(secretEnds, last) ||
		slices.ContainsFunc(secretParts, func(p string) bool { return strings.Contains(name, p) })
}

// storeList sets a list of strings.
func (l *loader) storeList(f *file, e entry, fld *field, to *[]string) error {
	switch {
	case e.kind != unstable.Array:
		return fmt.Errorf(`must be an array of strings, not %s`, kindName(e.kind))
	case e.items == nil:
		return errors.New("must be an array of strings and nothing else")
	}
	for i, item := range e.items {
		if fld.check == nil {
			break
		}
		v, err := fld.check(item, f)
		if err != nil {
			return err
		}
		e.items[i] = v
	}
	if f.project && fld.access == adds {
		*to = slices.Concat(*to, e.items)
		return nil
	}
	*to = e.items
	return nil
}

// checkPattern accepts what stands for names of variables.
func checkPattern(v string, _ *file) (string, error) {
	if v == "" || strings.IndexFunc(v, func(r rune) bool { return notBare(r) && r != '*' || r == '-' }) >= 0 {
		return "", errors.New("has an entry that is not the name of an environment variable (allowed: letters, digits, _ and *)")
	}
	return v, nil
}

const autoShell = "auto"

// ShellName is the shell that commands are to run in, "" for the usual one.
func (t Tools) ShellName() string {
	if t.Shell == autoShell {
		return ""
	}
	return t.Shell
}
