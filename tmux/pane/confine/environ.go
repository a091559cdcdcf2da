package confine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/texts/searchpath"

	"buddy/texts/secretvariable"
)

// dropped holds variables that change the meaning of a command's words, or name programs and services that the
// command's programs would use. A star at the end matches any characters.
var dropped = []string{
	"BASH_*", "SHELLOPTS", "BASHOPTS", "ENV", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "IFS", "ZDOTDIR", "FPATH",
	"LD_*", "DYLD_*", "TMUX", "TMUX_PANE", "STY", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_CONNECTION", "SSH_TTY", "GPG_AGENT_INFO", "DBUS_*",
	"XDG_RUNTIME_DIR", "XDG_SESSION_*", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "NOTIFY_SOCKET", "LISTEN_*",
	"GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR",
	"LESSOPEN", "LESSCLOSE", "PAGER", "MANPAGER", "PYTHONSTARTUP", "PYTHONINSPECT",
	"PWD", "SHLVL", "_",
}

// noEditor is a shell command that replaces an editor and fails with the reason.
const noEditor = `echo "buddy: no editor opens here, because nobody can type. Give the text with the command (git: -m, -F or --no-edit), or set GIT_EDITOR=true to keep it as it is." >&2; false`

// Unattended holds the variables of a command whose prompts nobody can answer: they keep programs from prompting,
// opening an editor or waiting in a pager.
var Unattended = []string{
	"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never",
	"GIT_EDITOR=" + noEditor, "GIT_SEQUENCE_EDITOR=" + noEditor, "EDITOR=" + noEditor, "VISUAL=" + noEditor,
}

// given holds variables for every command, in addition to Unattended.
var given = []string{"TERM=dumb", "GIT_OPTIONAL_LOCKS=0", "PYTHONUNBUFFERED=1"}

// gitSettings override the repository's settings, to keep git from starting programs that the repository names. No
// setting prevents external diffs and filters; these run under the command's restrictions.
var gitSettings = [][2]string{
	{"safe.bareRepository", "explicit"},
	{"core.fsmonitor", "false"},
	{"core.hooksPath", "/dev/null"},
	{"core.pager", "cat"},
	{"log.showSignature", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
}

// Environ returns the environment of a confined command. first is the environment of the very first command, whose PATH
// is kept; now is the environment as commands have changed it.
//
// Variables whose names or values suggest secrets are removed, because any command might print them.
func Environ(first, now, withheld []string, temp string) []string {
	out := withoutSecrets(Clean(first, now, withheld))
	if temp != "" {
		out = append(out, "TMPDIR="+temp)
	}
	return unique(GitSettings(slices.Concat(out, Unattended, given), gitSettings))
}

// GitSettings adds git settings to an environment.
func GitSettings(env []string, settings [][2]string) []string {
	n, _ := strconv.Atoi(lookup(env)("GIT_CONFIG_COUNT"))
	n = max(n, 0)
	for _, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s[1]))
		n++
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// Clean returns the environment now without the variables in withheld, those that change the meaning of a command's
// words, and those that name programs or services to use. PATH comes from first.
func Clean(first, now, withheld []string) []string {
	out := slices.DeleteFunc(slices.Clone(now), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "PATH" || slices.Contains(withheld, name) || slices.ContainsFunc(dropped, func(d string) bool { return means(d, name) })
	})
	return append(out, "PATH="+searchpath.Outside(lookup(first)("PATH")))
}

// keyStarts lists prefixes of API keys and tokens.
var keyStarts = strings.Fields("sk- sk_live ghp_ gho_ ghs_ github_pat_ glpat- xoxb- xoxp- AKIA ASIA AIza eyJ npm_ pypi- hf_ -----BEGIN")

// secretVariable reports whether a variable holds a secret. For git's numbered settings (GIT_CONFIG_VALUE_0 and so on),
// only the value counts.
func secretVariable(kv string) bool {
	name, value, _ := strings.Cut(kv, "=")
	numbered := strings.HasPrefix(name, "GIT_CONFIG_")
	if numbered {
		name, _, _ = strings.Cut(value, ":") // Authorization: basic …
	}
	return secretvariable.Find(name) != "" || secretvariable.HoldsPassword(name, value) ||
		slices.ContainsFunc(keyStarts, func(s string) bool { return strings.HasPrefix(value, s) })
}

// withoutSecrets removes the variables with secrets, and all numbered git settings if one of them has a secret.
func withoutSecrets(env []string) []string {
	numbered := func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_CONFIG_KEY_") || strings.HasPrefix(kv, "GIT_CONFIG_VALUE_")
	}
	if slices.ContainsFunc(env, func(kv string) bool { return numbered(kv) && secretVariable(kv) }) {
		env = slices.DeleteFunc(env, func(kv string) bool { return numbered(kv) || strings.HasPrefix(kv, "GIT_CONFIG_COUNT=") })
	}
	return slices.DeleteFunc(env, secretVariable)
}

// means reports whether a name matches an entry of dropped.
func means(entry, name string) bool {
	if prefix, ok := strings.CutSuffix(entry, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return entry == name
}

// unique keeps the last of the variables with the same name.
func unique(env []string) []string {
	at := map[string]int{}
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if i, ok := at[name]; ok {
			out[i] = kv
			continue
		}
		at[name] = len(out)
		out = append(out, kv)
	}
	return out
}

// lookup returns a function that finds variables in env.
func lookup(env []string) func(name string) string {
	return func(name string) string {
		for _, kv := range slices.Backward(env) {
			if k, v, ok := strings.Cut(kv, "="); ok && k == name && name != "" {
				return v
			}
		}
		return ""
	}
}
