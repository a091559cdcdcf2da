package config

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"buddy/agent/settings"

	"buddy/texts/secretvariable"
)

// Tools holds the section [tools]. Names of variables may contain * for any text.
type Tools struct {
	settings.Calls
	EnvAllow          []string      // variables passed to commands although their names look like secrets
	EnvDeny           []string      // variables never passed to commands
	UnattendedTimeout time.Duration // limit for a command that waits for keys while nobody can type
	Off               []string      // names of tools and groups that no model gets
	Output            int           // maximum bytes of each output stream of a command for the model
	Screen            int           // maximum bytes of a pane's screen for the model
	Whole             int           // maximum MB recorded of each output stream of a command
	Search            Search
	Shell             string // of commands: bash, zsh, dash, ash or sh; empty: bash, or sh if bash is missing
	Confirm           bool   // shell_confirm, an older form of the mode
}

var toolsSection = section{
	name: "tools",
	doc: "Limits of tools, and the environment of the model's commands. Commands don't get variables whose names " +
		"look like secrets (`…_KEY`, `…_TOKEN`, `…_SECRET`, `…PASS`, `…_DSN`, `…_COOKIE`, `…_AUTH` and the like), " +
		"whose values are URLs with a password, or that an `api_key_env` names. `/status` lists these variables; " +
		"`env_allow` passes them on.",
	fields: []field{
		{
			name: "off", short: "names of tools", access: adds,
			doc: "Tools that no model gets: names from [tools.md](tools.md), or a group: `shell`, `tmux` (panes), " +
				"`files`, `web`. The commands that you run with `!` need `run_shell`, too. A project's file may only add " +
				"to it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Off },
		},
		{
			name: "env_allow", short: "names of variables", access: personal,
			doc: "Variables that commands get although they look like secrets, such as `GITHUB_TOKEN`. `*` matches " +
				"any text.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.EnvAllow },
			check:   checkPattern,
		},
		{
			name: "env_deny", short: "names of variables", access: adds,
			doc: "More variables that commands don't get; overrides `env_allow`. A project's file may only add to " +
				"it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.EnvDeny },
			check:   checkPattern,
		},
		{
			name: "timeout", short: "seconds, 1 to 86400", most: 86_400, access: personal,
			doc: "How long a tool such as a search or a download may run. Commands and questions to you have no " +
				"limit.",
			pointer: func(c *Config, _ *Profile) any { return seconds{&c.Tools.Timeout} },
		},
		{
			name: "wait_for_answer", short: "`true` or `false`", access: personal,
			doc: "`true`: no tool starts before the model's answer is complete. Otherwise calls that need no approval " +
				"start while the answer is still arriving.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Wait },
		},
		{
			name: "unattended_timeout", short: "seconds, 1 to 86400", most: 86_400, access: personal,
			doc: "How long a command of `buddy exec`, such as an editor in its own pane, may wait for keys before buddy " +
				"ends it, because nobody is there to type. The model sees at once that the command is waiting.",
			pointer: func(c *Config, _ *Profile) any { return seconds{&c.Tools.UnattendedTimeout} },
		},
		{
			name: "page", short: "bytes, 1 to 200000", most: 200_000, access: personal,
			doc: "How much of a file or a web page the model gets at once. For a small or unknown " +
				"context window, the limit is lower: a sixteenth of the window, but at least 8000.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Page },
		},
		{
			name: "shell_output", short: "bytes, 1 to 20000", most: 20_000, access: personal,
			doc: "How much of a command's output the model gets: the start and the end. Standard " +
				"output and standard error share this limit, and so do the targets of a command.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Output },
		},
		{
			name: "screen_output", short: "bytes, 1 to 40000", most: 40_000, access: personal,
			doc:     "How much of a pane's screen and scrollback the model gets at once: the end.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Screen },
		},
		{
			name: "whole_output", short: "MB, 1 to 100000", most: 100_000, access: personal,
			doc: "The size limit, in MB, of the file in which buddy records an output stream of a command (each stream has " +
				"its own file). If a stream is longer, the file has the start up to this limit, a line with the number of " +
				"missing bytes, and the last 64 KB. On an ssh host or in a container, the file has the first 4 MB and the " +
				"last 64 KB.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Whole },
		},
		{
			name: "search_results", short: "1 to 30", most: 30, access: personal,
			doc:     "The maximum number of results that the model gets from a web search; Brave and Tavily send at most 20.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Search.Hits },
		},
		{
			name: "search_engine", short: "`duckduckgo`, `searxng`, `brave` or `tavily`", access: personal,
			doc: "The search engine of `web_search`. SearXNG is a server of your own at `search_url`; Brave and Tavily need " +
				"a key.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Search.Engine },
			check:   oneOf("search engine", DuckDuckGo, searXNG, brave, tavily),
		},
		{
			name: "search_url", short: "http or https URL", access: personal,
			doc: "The address of the SearXNG server, without `/search`; it may be on this machine or in the local network, " +
				"and buddy connects to it without a proxy. Its settings.yml must list `json` in `formats` under `search`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Search.URL },
			check:   orEmpty(func(v string, _ *file) (string, error) { return cleanURL(v, false) }),
		},
		{
			name: "search_key_env", short: "name of a variable", access: personal,
			doc: "The variable with the key of the search engine; if unset, `BRAVE_API_KEY` or `TAVILY_API_KEY`. Only that " +
				"engine gets the key, and commands don't get the variable.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Search.KeyEnv },
			check:   orEmpty(checkEnvName),
		},
		{
			name: "budgets", short: "`NAME=TOKENS`", access: personal,
			doc: "The maximum number of tokens in a tool's results from one prompt to the next, such as " +
				"`\"fetch_url=20000\"`; `*` means each tool without a budget of its own. buddy refuses calls beyond that, " +
				"and the model sees why. `/context` shows how much each tool used.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Budgets },
			check:   checkBudget,
		},
		{
			name: "shell", short: "`auto`, `bash`, `zsh`, `dash`, `ash` or `sh`", access: personal,
			doc: "The shell that runs commands, on this machine or the target; `auto` is bash, or sh where there is no " +
				"bash. The shell does not read its start-up files. With zsh, every command needs approval, because buddy " +
				"recognises read-only commands only in the other shells.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Shell },
			check:   oneOf("value", autoShell, "bash", "zsh", "dash", "ash", "sh"),
		},
		{
			name: "shell_confirm", short: "`true` or `false`", access: personal, old: true,
			doc: "An older form of `[agent] mode`: `true` means `ask`, `false` means `all`. If both are set, `mode` " +
				"counts.",
			pointer: func(c *Config, _ *Profile) any { return &c.Tools.Confirm },
		},
	},
}

// confirmMode sets the mode from shell_confirm, if one of the person's own files has that.
func (l *loader) confirmMode() {
	at := l.index[Path("tools", "shell_confirm")]
	if at == "" {
		return
	}
	mode := map[bool]string{true: "ask", false: "all"}[l.cfg.Tools.Confirm]
	l.notice("%s: tools.shell_confirm is an old name: write mode = %q in [agent]", at, mode)
	if l.index[Path("agent", "mode")] == "" {
		l.cfg.Agent.Mode = mode
		l.index[Path("agent", "mode")] = at
	}
}

// Environ splits an environment into the part that the model's commands get, and the sorted names of the withheld
// variables.
func (c *Config) Environ(env []string) (passed, withheld []string) {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if c.withholds(name, value) {
			withheld = append(withheld, name)
			continue
		}
		passed = append(passed, kv)
	}
	slices.Sort(withheld)
	return passed, slices.Compact(withheld)
}

func (c *Config) withholds(name, value string) bool {
	switch {
	case matches(c.Tools.EnvDeny, name):
		return true
	case matches(c.Tools.EnvAllow, name):
		return false
	}
	return secretvariable.Find(name) != "" ||
		name != "" && name == c.Tools.Search.KeyName() || secretvariable.HoldsPassword(name, value) || slices.ContainsFunc(c.Models, func(p Profile) bool { return p.KeyEnv == name })
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// storeList sets a list of strings.
func (l *loader) storeList(f *file, e entry, fld *field, to *[]string) error {
	switch {
	case e.kind != unstable.Array:
		return fmt.Errorf(`must be an array of strings, not %s`, kindName(e.kind))
	case e.items == nil:
		return errors.New("must be an array of strings only")
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

// checkPattern accepts patterns for names of variables. Errors do not repeat the value, which may be a key.
func checkPattern(v string, _ *file) (string, error) {
	if v == "" || strings.IndexFunc(v, func(r rune) bool { return notBare(r) && r != '*' || r == '-' }) >= 0 {
		return "", errors.New("an entry is not an environment variable name (allowed: letters, digits, _ and *)")
	}
	return v, nil
}

// checkBudget accepts the name of a tool with a number of tokens.
func checkBudget(v string, _ *file) (string, error) {
	name, tokens, ok := strings.Cut(v, "=")
	name, tokens = strings.TrimSpace(name), strings.TrimSpace(tokens)
	n, err := strconv.Atoi(tokens)
	if !ok || name == "" || err != nil || n < 1 || n > maxBudget {
		return "", fmt.Errorf(`entry %.60q is not NAME=TOKENS, such as "fetch_url=20000" (tokens from 1 to %d)`, v, maxBudget)
	}
	return name + "=" + tokens, nil
}

// maxBudget limits the tokens of a tool's budget.
const maxBudget = 1_000_000_000

const autoShell = "auto"

// ShellName returns the configured shell of commands, "" for the default.
func (t Tools) ShellName() string {
	if t.Shell == autoShell {
		return ""
	}
	return t.Shell
}
