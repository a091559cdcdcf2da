package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"buddy/texts"
	"buddy/texts/searchpath"
)

// maxGit limits the bytes of git's output that are kept.
const maxGit = 16 << 20

// git runs git in a folder. Unless the person trusts the repository, git runs no program that the repository names: no
// hooks, filters, merge drivers, watchers or signers. It never fetches and never asks for a password.
type git struct {
	dir     string
	trusted bool     // hooks and filters of the repository may run
	emptied []string // NAME=VALUE of settings of the repository that name programs; nil: not read yet
}

// newGit returns a git for a folder.
func newGit(ctx context.Context, dir string, trusted bool) *git {
	g := &git{dir: dir, trusted: trusted, emptied: []string{}}
	if trusted {
		return g
	}
	out, err := g.run(ctx, "config", "--show-scope", "--name-only", "-z", "--get-regexp", `^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver|diff\..*\.(command|textconv)|gpg\..*program)$`)
	if err != nil {
		return g // no match is an error, too
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if scope, name := fields[i], fields[i+1]; scope != "global" && scope != "system" {
			g.emptied = append(g.emptied, name+"="+harmless(name))
		}
	}
	return g
}

// harmless returns the value that keeps a setting from running a program. A merge driver gets a command that fails,
// which git treats as a conflict; without a command, git would silently take one side.
func harmless(name string) string {
	switch {
	case strings.HasSuffix(name, ".required"), strings.HasSuffix(name, ".driver"):
		return "false"
	case strings.HasPrefix(name, "gpg."):
		return "gpg"
	}
	return ""
}

// in returns the same git for another folder of the repository.
func (g *git) in(dir string) *git {
	other := *g
	other.dir = dir
	return &other
}

// run returns git's output. The error is git's own message in one line.
func (g *git) run(ctx context.Context, args ...string) (string, error) {
	settings := []string{"core.fsmonitor=false", "submodule.recurse=false", "diff.external=", "core.quotePath=false", "gc.auto=0", "maintenance.auto=false"}
	if !g.trusted {
		settings = append(settings, "core.hooksPath=/dev/null", "commit.gpgSign=false")
	}
	argv := []string{"--no-pager"}
	for _, s := range settings {
		argv = append(argv, "-c", s)
	}
	c := searchpath.Command(ctx, "git", append(argv, args...)...)
	c.Dir, c.WaitDelay = g.dir, time.Second
	c.Env = append(texts.WithoutGit(c.Env), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_EXTERNAL_DIFF=",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(g.emptied)))
	for i, s := range g.emptied {
		last := strings.LastIndexByte(s, '=')
		c.Env = append(c.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[:last]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[last+1:]))
	}
	out, stderr := kept{most: maxGit}, kept{most: 4096}
	c.Stdout, c.Stderr = &out, &stderr
	err := c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended && ctx.Err() == nil {
		return out.String(), errors.New(said(stderr.String()))
	}
	if err == nil && out.cut {
		return "", fmt.Errorf("git %s printed more than %d MB", args[0], maxGit>>20)
	}
	return out.String(), err
}

// line calls run for output of one line.
func (g *git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// list calls run for a list whose items end with a NUL byte, as with the option -z.
func (g *git) list(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.run(ctx, args...)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}

// ok reports whether git exits with 0.
func (g *git) ok(ctx context.Context, args ...string) bool {
	_, err := g.run(ctx, args...)
	return err == nil
}

// path returns the absolute path of a file among git's own files.
func (g *git) path(ctx context.Context, name string) string {
	at, err := g.line(ctx, "rev-parse", "--git-path", name)
	if err == nil && !filepath.IsAbs(at) {
		at = filepath.Join(g.dir, at)
	}
	return at
}

// said returns the part of git's messages that explains a failure, in one line.
func said(stderr string) string {
	why := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		for _, start := range []string{"fatal: ", "error: "} {
			if text, ok := strings.CutPrefix(line, start); ok && (why == "" || start == "fatal: ") {
				why = text
			}
		}
	}
	if why == "" {
		why = strings.TrimSpace(stderr)
	}
	if why == "" {
		why = "it failed without a message"
	}
	return "git: " + texts.Clip(texts.OneLine(why), 300)
}

// kept keeps the first bytes written to it and drops the others.
type kept struct {
	bytes.Buffer
	most int
	cut  bool
}

// Write keeps the bytes of p that the limit leaves room for.
func (k *kept) Write(p []byte) (int, error) {
	n := max(0, min(len(p), k.most-k.Len()))
	k.cut = k.cut || n < len(p)
	_, _ = k.Buffer.Write(p[:n])
	return len(p), nil
}

// ReadFrom hides the method of the buffer, which would bypass the limit.
func (k *kept) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{k}, r)
}
