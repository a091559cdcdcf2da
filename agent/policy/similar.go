package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// subcommands are programs whose next word says what they do.
var subcommands = []string{
	"go", "git", "npm", "yarn", "pnpm", "bun", "deno", "cargo", "docker", "podman", "kubectl", "systemctl", "make", "just", "task", "pip", "pip3",
	"poetry", "uv", "rustup", "gradle", "mvn", "dotnet", "composer", "bundle", "gem", "rails", "helm", "terraform", "tofu", "gh", "apt", "apt-get",
	"brew", "dnf", "yum", "npx", "mix", "swift", "zig", "nix", "tmux", "buddy", "golangci-lint", "buf", "flutter", "dart", "sbt", "stack", "cabal",
}

// scripts are programs whose next word is the program that they run.
var scripts = []string{"python", "python3", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "lua", "java"}

// deeper are subcommands with subcommands of their own.
var deeper = []string{
	"npm run", "npm exec", "pnpm run", "yarn run", "bun run", "docker compose", "docker container", "docker image", "go mod", "go tool", "uv pip", "uv run",
	"poetry run", "gh pr", "gh issue", "git stash", "kubectl rollout", "cargo xtask", "bundle exec", "dotnet tool", "terraform state", "npm pkg",
}

// wide are commands of which any other use may be quite another thing.
var wide = []string{
	"eval", "source", ".", "exec", "find", "xargs", "env", "command", "builtin", "sed", "awk", "gawk", "mawk", "tee", "dd", "cp", "mv", "ln", "chmod", "chown",
	"install", "rsync", "git -c", "git push", "git reset", "git checkout", "git config", "git rebase", "docker run", "docker exec", "kubectl exec", "npx",
	"alias", "trap", "enable", "set", "export", "history", "printenv", "crontab", "at", "tmux", "screen", "sqlite3", "parallel", "time", "timeout", "nohup",
	"vim", "vi", "nano", "less", "more", "ssh-add", "gpg", "pass", "security", "docker", "kubectl", "helm", "ansible", "terraform apply", "hash", "cat", "jq",
	"yq", "grep", "rg", "head", "tail", "strings", "base64", "xxd", "od", "diff", "sort", "uniq", "git show", "git diff", "git log", "git grep", "go tool", "go generate",
	"nix", "bun", "deno", "uv run", "poetry run", "bundle exec", "npm exec", "go run", "java", "bash", "sh", "zsh", "systemctl", "mount", "umount", "sysctl", "ip", "iptables",
}

// Similar returns the one rule that "allow similar this session" would add for an action
// that is asked about; false if there is none that a person could judge at a glance: for
// what is computed, destroys, needs more rights, leaves the machine, or has more than one
// part to be asked about.
func (p Policy) Similar(a action.Action) (action.Rule, bool) {
	r := action.Rule{Decision: action.Allow, Tool: a.Tool, Target: a.Target, Source: action.FromSession}
	v, report := p.judge(a, action.ModeAsk)
	if v.Decision != action.Ask || a.Privesc || a.Tool == "" || strings.ContainsAny(a.Target, `*?[{\`) {
		return action.Rule{}, false
	}
	ok := false
	switch a.Kind {
	case action.Shell, action.Git:
		r.Prefix, ok = similarCommand(report)
	case action.FileWrite:
		dir := filepath.Dir(a.Path)
		r.Path, ok = filepath.Join(dir, "**"), p.editable(a) && !strings.ContainsAny(dir, `*?[{\`)
	case action.FileRead:
		dir := filepath.Dir(a.Path)
		r.Path, ok = filepath.Join(dir, "**"), filepath.IsAbs(a.Path) && Secret(a.Path) == "" && strings.Count(dir, "/") > 1 &&
			!below(p.Home, dir) && !strings.ContainsAny(dir, `*?[{\`)
	case action.Network, action.Browser:
		r.Host, ok = a.Host, a.Host != "" && (a.Method == "" || a.Method == "GET" || a.Method == "HEAD")
	case action.MCP:
		ok = a.Risk != action.High && strings.Contains(a.Tool, a.Op)
	}
	if ok {
		// A rule that would not decide this very action is none.
		ok = p.With(r).Judge(a, action.ModeAsk).Decision == action.Allow
	}
	if !ok {
		return action.Rule{}, false
	}
	return r, true
}

// similarCommand returns the words that a rule for the one command to be asked about
// begins with.
func similarCommand(report shell.Report) ([]string, bool) {
	var asked []shell.Command
	for _, c := range report.Commands {
		if !c.ReadOnly {
			asked = append(asked, c)
		}
	}
	if len(asked) != 1 || len(report.Other) > 0 || len(asked[0].Via) > 0 {
		return nil, false
	}
	c := asked[0]
	switch c.Effect {
	case shell.Deletes, shell.Privileged, shell.Remote, shell.Network:
		return nil, false
	}
	for _, w := range c.Argv {
		if w.Dynamic {
			return nil, false
		}
	}
	prefix := c.Argv[:1]
	name := c.Name()
	n := 1
	switch {
	case slices.Contains(scripts, name):
		n = 2
		if len(c.Argv) > 2 && c.Argv[1].Text == "-m" {
			n = 3
		}
	case slices.Contains(subcommands, name) && len(c.Argv) > 1:
		n = 2
		if len(c.Argv) > 2 && slices.Contains(deeper, name+" "+c.Argv[1].Text) {
			n = 3
		}
	}
	if n > len(c.Argv) || slices.Contains(wide, name) && n == 1 {
		return nil, false
	}
	prefix = c.Argv[:n]
	words := make([]string, n)
	for i, w := range prefix {
		words[i] = w.Text
		dashed := i > 0 && strings.HasPrefix(w.Text, "-") && !(n == 3 && w.Text == "-m")
		if dashed || w.Text == "" || strings.ContainsAny(w.Text, "\n\t") {
			return nil, false
		}
	}
	if n > 1 && (slices.Contains(wide, name) && !slices.Contains(scripts, name) || slices.Contains(wide, name+" "+words[1])) {
		return nil, false
	}
	return words, true
}
