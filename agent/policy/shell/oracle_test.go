package shell_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/policy/shell"
)

// scratch makes a folder with the files that the everyday lines use, in a repository of its
// own.
func scratch(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module x\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n", "README.md": "# x\n", "package.json": `{"version":"1"}`,
		"src/app.ts": "let x = 1\n", "src/index.ts": "TODO\n", "internal/a/doc.go": "package a\n", "internal/b/doc.go": "package b\n", "app.log": "error\n",
		"file.txt": "b\na\n", "a.txt": "a\n", "b.txt": "b\n", "data.csv": "1,2\n", "names.txt": "x\ny\n", "data.json": `{"items":[{"name":"x"}]}`,
		".env": "KEY=1\n", "config.ini": "a=b\n", "file.b64": "Zm9v\n", "nums.txt": "1\n2\n", "old.go": "package x\n", "new.go": "package x\n", "-ofoo.go": "package x\n",
		"-rf.md": "x\n", "with space.go": "package x\n", "$(touch y).md": "x\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", `git init -q . && git add . && git -c user.name=x -c user.email=x@y commit -qm x && git update-index -q --refresh`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git: %v\n%s", err, out)
	}
	return dir
}

// picture returns everything that a command could change in dir: names, modes, times, contents. It omits git's
// index, in which git status updates cached data.
func picture(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" || rel == filepath.Join(".git", "index") {
			return nil
		}
		sum := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		files[rel] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano(), info.Size(), sum)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sandbox returns a function that creates commands which can write only to dir and home and have no network.
func sandbox(t *testing.T, dir, home string) func(sh, line string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("runs some hundred processes")
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("bubblewrap is not installed")
	}
	run := func(sh, line string) *exec.Cmd {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		t.Cleanup(cancel)
		cmd := exec.CommandContext(ctx, bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
			"--tmpfs", "/run", "--bind", dir, dir, "--bind", home, home, "--setenv", "HOME", home, "--setenv", "GOCACHE", "/nowhere", "--setenv", "GOFLAGS", "-mod=mod",
			"--setenv", "GOPROXY", "off", "--setenv", "GOTOOLCHAIN", "local", "--setenv", "GOTELEMETRYDIR", "/nowhere", "--chdir", dir, sh, "-c", line)
		cmd.WaitDelay = time.Second
		return cmd
	}
	if out, err := run("sh", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap does not work here: %v %s", err, out)
	}
	if run("sh", "touch made").Run() != nil || os.Remove(filepath.Join(dir, "made")) != nil {
		t.Fatal("the scratch folder cannot be written: the oracle would prove nothing")
	}
	return run
}

// parts holds pieces of programs from which TestShellsAgree builds lines.
var parts = []string{
	"ls", "cat a", "echo hi", "touch y", "'touch y'", "x=1", "x='a[$(touch y)]'", "$x", ";", "&&", "||", "|", "&", "(", ")", "{", "}", "\n", "$(", "`", "\"", "'", "\\", "\\\n",
	"<(", ">", "/dev/null", "2>&1", "#", "!", "[[", "]]", "((", "))", "if", "then", "fi", "for i in", "do", "done", "while", "case a in", "a)", "esac", "<<E\n", "E\n", "<<'E'\n",
	"${x:-", "${x@P}", "}", "[", "-eq 0", "true", "env", "xargs", "sh -c", "sed -n", "awk", "$'", "\\'", "*", "function", "f()", "!(", "|&", "<<<", "&>", "&> /dev/null", "eval", "coproc",
	"{a,b}", "[[ a ||", "=~", "a|touch y", "\"${x-'", "}\"", "touch y ]]", "; touch y #", "git log", "--output=y", "sort", "-oy", "--", "{ls,touch} y",
}

// Random lines of the literal core, which runs without the sandbox, change nothing in any shell: the parser and the
// shells agree, or the difference does not matter.
func TestShellsAgree(t *testing.T) {
	dir := scratch(t)
	run := sandbox(t, dir, t.TempDir())
	before := picture(t, dir)
	r := rand.New(rand.NewPCG(1, 2))
	n := 0
	for range 400_000 {
		if n == 150 {
			break
		}
		var sb strings.Builder
		for range 3 + r.IntN(8) {
			sb.WriteString(parts[r.IntN(len(parts))])
			if r.IntN(3) > 0 {
				sb.WriteByte(' ')
			}
		}
		line := sb.String()
		if r := shell.Analyse(line, env); !strings.Contains(line, "y") || !r.ReadOnly || r.Beyond != "" {
			continue
		}
		n++
		for _, sh := range []string{"bash", "dash", "zsh"} {
			if _, err := exec.LookPath(sh); err == nil {
				_ = run(sh, line).Run()
			}
		}
		if after := picture(t, dir); !maps.Equal(before, after) {
			t.Fatalf("%q changes something", line)
		}
	}
	if n < 50 {
		t.Errorf("only %d lines", n)
	}
}

// TestOracle runs every everyday line and checks that nothing changed.
func TestOracle(t *testing.T) {
	dir, home := scratch(t), t.TempDir()
	run := sandbox(t, dir, home)
	// The folder's own time changed by the check above; it is part of what is compared.
	before, beforeHome := picture(t, dir), picture(t, home)
	for _, line := range corpus(t, "everyday.txt") {
		if !shell.Analyse(line, env).ReadOnly || slices.ContainsFunc([]string{"find /", "ls -R /", "tail -f", "logs -f", "gopls", "npm", "node", "yarn"}, func(s string) bool { return strings.Contains(line, s) }) {
			continue // slow, or write their own caches in the home
		}
		var out bytes.Buffer
		cmd := run("bash", line)
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // it may fail without a program or a file
		after := picture(t, dir)
		for name := range after {
			if after[name] != before[name] {
				t.Errorf("%q changed %s:\n%s", line, name, out.String())
			}
		}
		if len(after) < len(before) {
			t.Errorf("%q removed files", line)
		}
		before = after
	}
	// Ignores files that go, procps and rustup create for themselves.
	own := []string{".config", ".config/go", ".config/procps", ".rustup"}
	after := picture(t, home)
	for name := range after {
		bookkeeping := slices.ContainsFunc(own, func(s string) bool { return name == s || strings.HasPrefix(name, s+"/") && s != ".config" })
		if after[name] != beforeHome[name] && name != "." && !bookkeeping {
			t.Errorf("home: %s is new", name)
		}
	}
}
