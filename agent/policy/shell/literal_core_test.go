package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/agent/policy/shell"
)

// judge returns the verdict of mode ask on a line in /w.
func judge(line string, confined bool) action.Verdict {
	p := policy.Policy{
		Workspace: "/w", Home: "/home/ann", Confined: confined, Resolve: func(name string) string { return name },
		Match: func(string, string) ([]string, bool) { return nil, true },
	}
	return p.Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Cwd: "/w", Command: line}, action.ModeAsk)
}

// Where the kernel does not confine commands, only the literal core needs no approval; elsewhere the other
// read-only commands need none either.
func TestLiteralCore(t *testing.T) {
	for _, line := range corpus(t, "core.txt") {
		if v := judge(line, false); v.Decision != action.Allow || v.Rule != policy.LiteralCore {
			t.Errorf("%q: %+v, want it free as one of the literal core", line, v)
		}
		if v := judge(line, true); v.Decision != action.Allow {
			t.Errorf("%q: %+v, want it free where the kernel keeps it", line, v)
		}
	}
}

// Everything else needs approval: words that the shell computes, commands whose meaning the folder could change,
// commands that other systems read differently.
func TestBeyondTheCore(t *testing.T) {
	lines := corpus(t, "beyond.txt")
	lines = append(lines, corpus(t, "hostile.txt")...)
	lines = append(lines, corpus(t, "harm.txt")...)
	lines = append(lines, corpus(t, "kernel.txt")...)
	for _, line := range lines {
		if v := judge(line, false); v.Decision == action.Allow || v.Reason == "" {
			t.Errorf("%q: %+v, want it asked about with a reason", line, v)
		}
	}
	if n := len(corpus(t, "beyond.txt")); n < 300 {
		t.Errorf("%d lines", n)
	}
}

// Commands that talk to a service never run in the sandbox, which would disconnect them: they are in the literal
// core or need approval.
func TestServicesAreAskedOutside(t *testing.T) {
	for line, want := range map[string]action.Verdict{
		"docker ps":                      {Decision: action.Allow, Rule: policy.LiteralCore},
		"docker ps | head -3":            {Decision: action.Allow, Rule: policy.LiteralCore},
		"ls && docker ps":                {Decision: action.Allow, Rule: policy.LiteralCore},
		"docker ps | awk '{print $1}'":   {Decision: action.Ask, Rule: "shell"},
		"git status && docker ps":        {Decision: action.Ask, Rule: "shell"},
		"docker logs $x":                 {Decision: action.Ask, Rule: "shell"},
		"docker compose ps":              {Decision: action.Ask, Rule: "shell"},
		"kubectl get pods":               {Decision: action.Ask, Rule: "shell"},
		"journalctl -u nginx -n 9":       {Decision: action.Allow, Rule: policy.LiteralCore},
		"systemctl status $(hostname)":   {Decision: action.Ask, Rule: "shell"},
		"crontab -l":                     {Decision: action.Allow, Rule: policy.LiteralCore},
		"gh pr list":                     {Decision: action.Ask, Rule: "shell"},
		"docker --version":               {Decision: action.Allow, Rule: policy.ReadOnly},
		"ls":                             {Decision: action.Allow, Rule: policy.ReadOnly},
		"find . -name '*.go' -newer x.c": {Decision: action.Allow, Rule: policy.ReadOnly},
	} {
		if v := judge(line, true); v.Decision != want.Decision || v.Rule != want.Rule {
			t.Errorf("%q: %+v, want %+v", line, v, want)
		}
	}
}

// Git is not in the core, because it runs programs named by a repository: this test shows it for queries that look
// harmless.
func TestGitRunsWhatARepositoryNames(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	git := func(line string) {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x")
		_ = cmd.Run() // the exit code does not matter
	}
	trap := filepath.Join(dir, "trap")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\ntouch '"+ran+"'\ncat \"$1\" 2>/dev/null\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(`git init -q . && echo a >a.txt && echo '*.txt diff=x' >.gitattributes && git add . && git commit -qm x && echo b >a.txt
printf 'tree %s\nauthor x <x> 1 +0000\ncommitter x <x> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nx\n' "$(git rev-parse HEAD^{tree})" |
	git hash-object -t commit -w --stdin | xargs git update-ref HEAD`)
	for _, tt := range []struct{ setting, line string }{
		{"core.fsmonitor", "git status"},
		{"core.fsmonitor", "git status --short"},
		{"core.fsmonitor", "git diff --stat"},
		{"core.fsmonitor", "git ls-files -m"},
		{"diff.external", "git diff"},
		{"diff.x.textconv", "git log -p"},
		{"diff.x.textconv", "git show HEAD"},
		{"diff.x.textconv", "git grep --textconv a"},
		{"diff.x.textconv", "git blame a.txt"},
		{"gpg.program", "git log -1"},
	} {
		_ = os.Remove(ran)
		git("git config " + tt.setting + " '" + trap + "'; git config log.showSignature true")
		git(tt.line)
		git("git config --unset " + tt.setting)
		if _, err := os.Stat(ran); err != nil {
			t.Errorf("%s does not run the program of %s: the control proves nothing", tt.line, tt.setting)
		}
		if v := judge(tt.line, false); v.Decision == action.Allow {
			t.Errorf("%s is free without a sandbox", tt.line)
		}
	}
}

// Everyday commands rarely need approval where the kernel confines them: at most 3 % of the lines, and less than a
// third of those that talk to a service.
func TestDaily(t *testing.T) {
	asks := func(file string, most float64) {
		var asked []string
		lines := corpus(t, file)
		for _, line := range lines {
			if v := judge(line, true); v.Decision != action.Allow {
				asked = append(asked, line+"   ("+v.Reason+")")
			}
		}
		t.Logf("%s: %d of %d ask:\n%s", file, len(asked), len(lines), strings.Join(asked, "\n"))
		if float64(len(asked)) > most*float64(len(lines)) {
			t.Errorf("%s: %d of %d lines ask", file, len(asked), len(lines))
		}
	}
	asks("daily.txt", 0.03)
	asks("services.txt", 0.33)
	if n := len(corpus(t, "daily.txt")); n < 300 {
		t.Errorf("%d lines", n)
	}
}

// A search through a folder with a secret is not in the literal core: neither without the sandbox, nor in a line
// with a command that a rule allows. In the sandbox it needs no approval.
func TestSearchesOfFoldersWithSecrets(t *testing.T) {
	e := plainEnv()
	e.Holds = func(dir string) (string, bool) {
		switch {
		case strings.HasPrefix(dir, "/w/huge"):
			return "", false
		case strings.HasPrefix(dir, "/w/src"):
			return "", true
		}
		return ".env", true
	}
	for line, core := range map[string]bool{
		"grep -rn parseConfig .": false, "grep -rn parseConfig": false, "grep -rno parseConfig src .": false, "grep -rn parseConfig huge": false, "ls && grep -rn parseConfig .": false,
		"grep -rn parseConfig src": true, "grep parseConfig main.go": true, "cat main.go | grep parseConfig": true,
	} {
		r := shell.Analyse(line, e)
		last := r.Commands[len(r.Commands)-1]
		if !r.ReadOnly || (r.Beyond == "") != core || !strings.Contains(line, "|") && last.InCore() != core {
			t.Errorf("Analyse(%q): read-only %v, beyond %q, in the core %v", line, r.ReadOnly, r.Beyond, last.InCore())
		}
	}
}

// If git's settings contain a password, which git must be able to read, a program whose words are not all written
// out needs approval.
func TestPasswordsInGitsSettings(t *testing.T) {
	e := plainEnv()
	e.GitKeeps = func(string) string { return "/w/.git/config" }
	for line, free := range map[string]bool{
		"git status": true, "git log -p | head": true, "ls -la src": true, "cat main.go": true, "git show HEAD:x | grep foo": true,
		"find . -type f | xargs cat": false, "cat .git/c*": false, "grep -rn url .": false, "awk 1 $f": false, "tar c .git": false, "rg -uu url": false, "for f in *; do cat $f; done": false,
	} {
		if r := shell.Analyse(line, e); r.ReadOnly != free {
			t.Errorf("Analyse(%q).ReadOnly = %v: %s", line, r.ReadOnly, r.Reason)
		}
	}
}

// Outside the sandbox the name does not make a program harmless that may write or run others by its arguments.
func TestOutsideTheSandboxNamesAreNotEnough(t *testing.T) {
	for line, reads := range map[string]bool{"awk '{print > \"x\"}' y": false, "sed 'w x' y": false, "ls | awk 1": false, "tar tf x.tar": false, "git log": true, "cat x": true, "docker ps": true} {
		in := shell.Analyse(line, env)
		if out := in.Outside(); !in.ReadOnly || out.ReadOnly != reads || !reads && (out.Reason == "" || out.Reason == in.Reason) {
			t.Errorf("%q: in the sandbox %v, outside %v (%s)", line, in.ReadOnly, out.ReadOnly, out.Reason)
		}
	}
}
