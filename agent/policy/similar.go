package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
	"buddy/texts"
)

// subcommands are programs whose next word names the operation.
var subcommands = []string{
	"go", "git", "npm", "yarn", "pnpm", "bun", "deno", "cargo", "docker", "podman", "kubectl", "systemctl", "make", "just", "task", "pip", "pip3",
	"poetry", "uv", "rustup", "gradle", "mvn", "dotnet", "composer", "bundle", "gem", "rails", "helm", "terraform", "tofu", "gh", "apt", "apt-get",
	"brew", "dnf", "yum", "npx", "mix", "swift", "zig", "nix", "tmux", "buddy", "golangci-lint", "buf", "flutter", "dart", "sbt", "stack", "cabal",
}

// scripts are programs whose next word is the script that they run.
var scripts = []string{"python", "python3", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "lua", "java"}

// deeper are subcommands with subcommands of their own.
var deeper = []string{
	"npm run", "npm exec", "pnpm run", "yarn run", "bun run", "docker compose", "docker container", "docker image", "go mod", "go tool", "uv pip", "uv run",
	"poetry run", "gh pr", "gh issue", "git stash", "kubectl rollout", "cargo xtask", "bundle exec", "dotnet tool", "terraform state", "npm pkg",
}

// wide are commands whose other uses may be very different.
var wide = []string{
	"eval", "source", ".", "exec", "find", "xargs", "env", "command", "builtin", "sed", "awk", "gawk", "mawk", "tee", "dd", "cp", "mv", "ln", "chmod", "chown",
	"install", "rsync", "git -c", "git push", "git reset", "git checkout", "git config", "git rebase", "docker run", "docker exec", "kubectl exec", "npx",
	"alias", "trap", "enable", "set", "export", "history", "printenv", "crontab", "at", "tmux", "screen", "sqlite3", "parallel", "time", "timeout", "nohup",
	"vim", "vi", "nano", "less", "more", "ssh-add", "gpg", "pass", "security", "docker", "kubectl", "helm", "ansible", "terraform apply", "hash", "cat", "jq",
	"yq", "grep", "rg", "head", "tail", "strings", "base64", "xxd", "od", "diff", "sort", "uniq", "git show", "git diff", "git log", "git grep", "go tool", "go generate",
	"nix", "bun", "deno", "uv run", "poetry run", "bundle exec", "npm exec", "go run", "java", "bash", "sh", "zsh", "systemctl", "mount", "umount", "sysctl", "ip", "iptables",
}

// Similar returns the one rule that "allow similar this session" would add for an action that
// needs approval. ok is false where no rule could be judged at a glance: for commands that are
// computed, destroy, need more rights, leave the machine, or have several parts or targets
// that need approval. The rule applies to the target of the action only.
func (p Policy) Similar(a action.Action) (action.Rule, bool) {
	if len(a.Targets) > 0 {
		return action.Rule{}, false
	}
	j := p.strictest(a, action.ModeAsk)
	return j.on.similar(a, j.report)
}

// similar returns the rule of Similar, for the target of p. report holds what a command would do.
func (p Policy) similar(a action.Action, report shell.Report) (action.Rule, bool) {
	if len(a.Targets) > 0 {
		return action.Rule{}, false
	}
	r := action.Rule{Decision: action.Allow, Tool: a.Tool, Target: a.Target, Source: action.FromSession}
	if p.judge(a, report, action.ModeAsk).Decision != action.Ask || a.Privesc || a.Tool == "" || strings.ContainsAny(a.Target, `*?[{\`) {
		return action.Rule{}, false
	}
	ok := false
	switch a.Kind {
	case action.Shell, action.Git:
		r.Prefix, ok = similarCommand(report)
	case action.FileWrite, action.FileRead:
		r.Path, ok = p.similarFolder(a)
	case action.Network, action.Browser:
		r.Host, ok = a.Host, a.Host != "" && !a.Local && (a.Method == "" || a.Method == "GET" || a.Method == "HEAD")
	case action.MCP:
		ok = a.Risk != action.High // the tool's name says what it does
	}
	if ok {
		// The rule must allow this very action.
		ok = p.With(r).judgeFiles(a, report, action.ModeAsk).Decision == action.Allow
	}
	if !ok {
		return action.Rule{}, false
	}
	return r, true
}

// similarFolder returns a pattern for the files in the folder of a, unless that is too broad.
func (p Policy) similarFolder(a action.Action) (string, bool) {
	dir := filepath.Dir(a.Path)
	ok := p.editable(a)
	if a.Kind == action.FileRead {
		ok = filepath.IsAbs(a.Path) && Secret(a.Path) == "" && strings.Count(dir, "/") > 1 && !texts.Below(p.Home, dir)
	}
	return filepath.Join(dir, "**"), ok && !strings.ContainsAny(dir, `*?[{\`)
}

// similarCommand returns the prefix for a rule about the one command that needs approval.
func similarCommand(report shell.Report) ([]string, bool) {
	var asked []shell.Command
	for _, c := range report.Commands {
		if !c.InCore() {
			asked = append(asked, c)
		}
	}
	if len(asked) != 1 || len(report.Other) > 0 || len(asked[0].Via) > 0 {
		return nil, false
	}
	c := asked[0]
	dangerous := slices.Contains([]shell.Effect{shell.Deletes, shell.Privileged, shell.Remote, shell.Network}, c.Effect)
	if dangerous || slices.ContainsFunc(c.Argv, func(w shell.Arg) bool { return w.Dynamic }) {
		return nil, false
	}
	words := make([]string, 0, len(c.Argv))
	for _, w := range c.Argv {
		words = append(words, w.Text)
	}
	n := significantWords(c.Name(), words)
	if n > len(words) || tooWide(c.Name(), words[:n]) {
		return nil, false
	}
	return words[:n], true
}

// significantWords returns how many leading words of a command identify the operation.
func significantWords(name string, words []string) int {
	switch {
	case slices.Contains(scripts, name) && len(words) > 2 && words[1] == "-m":
		return 3
	case slices.Contains(scripts, name):
		return 2
	case slices.Contains(subcommands, name) && len(words) > 2 && slices.Contains(deeper, name+" "+words[1]):
		return 3
	case slices.Contains(subcommands, name) && len(words) > 1:
		return 2
	}
	return 1
}

// tooWide reports whether a rule for the words would allow very different operations.
func tooWide(name string, words []string) bool {
	for i, w := range words {
		module := i == 1 && w == "-m" && len(words) == 3
		if w == "" || strings.ContainsAny(w, "\n\t") || i > 0 && strings.HasPrefix(w, "-") && !module {
			return true
		}
	}
	if len(words) == 1 {
		return slices.Contains(wide, name)
	}
	return slices.Contains(wide, name) && !slices.Contains(scripts, name) || slices.Contains(wide, name+" "+words[1])
}
