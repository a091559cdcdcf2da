package compose

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/review"
	"buddy/tmux/host"
)

// TestGitOfAReviewRunsNoProgramOfTheRepository: filters, diff drivers and watchers that the repository's
// settings name do not run, though plain git runs one.
func TestGitOfAReviewRunsNoProgramOfTheRepository(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "ran")
	plain := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain("init", "-q", "-b", "main")
	put("a.txt", "one\n")
	plain("add", "a.txt")
	plain("commit", "-q", "-m", "one")
	run := "sh -c 'touch " + mark + "; cat'"
	plain("config", "filter.evil=x.clean", run)
	plain("config", "filter.evil=x.required", "true")
	plain("config", "diff.evil.command", "touch "+mark)
	plain("config", "diff.evil.textconv", "touch "+mark+"; cat")
	plain("config", "core.fsmonitor", "touch "+mark+"; false")
	plain("config", "diff.external", "touch "+mark)
	put(".git/info/attributes", "*.txt filter=evil=x diff=evil\n")
	put("a.txt", "one\ntwo\n")
	h := host.Local(os.Environ())
	defer h.Close() //nolint:errcheck // nothing is left to be said
	for where, run := range map[string]runner{"here": runHere(dir), "there": runThere(h, dir)} {
		c, err := review.Find(t.Context(), review.Folder{Git: gitIn(run), Dir: dir}, "")
		if err != nil || !strings.Contains(c.Diff, "+two") {
			t.Fatalf("%s: %+v, %v", where, c, err)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: a program of the repository ran", where)
		}
	}
	control := exec.Command("git", "diff", "HEAD")
	control.Dir = dir
	_ = control.Run() // what it ran may be all that it does
	if _, err := os.Stat(mark); err != nil {
		t.Error("positive control: plain git ran none either")
	}
}

// TestGitOfAReviewStopsAtTheLimit: a program that prints more than is read is ended, and what it printed is
// known to be cut; one that fails, or is not there, says why. Here and on another machine alike.
func TestGitOfAReviewStopsAtTheLimit(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, script string
		size         int
		fails        [2]string // here, there
	}{
		{"endless", "exec yes", review.MaxDiff + 1, [2]string{}},
		{"short", "echo x", 2, [2]string{}},
		{"broken", "echo why >&2; exit 3", 0, [2]string{"git: why", "git: why"}},
		{"missing", "", 0, [2]string{"not found", "has no git; install it there"}},
	} {
		bin := t.TempDir()
		if c.script == "" {
			for _, name := range []string{"sh", "env"} {
				path, err := exec.LookPath(name)
				if err == nil {
					err = os.Symlink(path, filepath.Join(bin, name))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		} else {
			if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			bin += string(os.PathListSeparator) + os.Getenv("PATH")
		}
		t.Setenv("PATH", bin)
		h := host.Local(os.Environ())
		for i, run := range []runner{runHere(dir), runThere(h, dir)} {
			out, err := runGit(t.Context(), run, nil, "diff")
			if len(out) != c.size || (err != nil) != (c.fails[i] != "") || err != nil && !strings.Contains(err.Error(), c.fails[i]) {
				t.Errorf("%s %d: %d bytes, error %v", c.name, i, len(out), err)
			}
		}
		_ = h.Close() // what it says is of no interest
	}
}
