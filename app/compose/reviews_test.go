package compose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// gitRepository makes a git repository with a commit for each text of a.txt, and returns what runs git in it.
func gitRepository(t *testing.T, dir string, contents ...string) (git func(args ...string) string) {
	t.Helper()
	git = func(args ...string) string {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if out, err := exec.Command("git", "init", "-q", "-b", "main", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, text := range contents {
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", "a.txt")
		git("commit", "-q", "-m", text)
	}
	return git
}

// TestGitOfAReviewRunsNoProgramOfASubmodule: what the settings of a submodule name does not run, though plain
// git runs it; that the submodule has another commit is still said.
func TestGitOfAReviewRunsNoProgramOfASubmodule(t *testing.T) {
	for _, tc := range []struct {
		name    string
		arrange func(t *testing.T, outer, inner func(...string) string, sub, run string)
		control string
		says    string // in the diff, or in the error
	}{
		{"clean filter", func(t *testing.T, _, inner func(...string) string, sub, run string) {
			inner("config", "filter.evil.clean", run+"; cat")
			old := time.Unix(1e9, 0)
			if err := os.Chtimes(filepath.Join(sub, "a.txt"), old, old); err != nil {
				t.Fatal(err)
			}
		}, "status", "nothing to review"},
		{"diff command", func(_ *testing.T, outer, inner func(...string) string, _, run string) {
			inner("config", "diff.evil.command", run)
			inner("commit", "-q", "--allow-empty", "-m", "three")
			inner("reset", "-q", "--hard", "HEAD~2")
			outer("config", "diff.submodule", "diff")
		}, "diff", "+Subproject commit "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, mark := t.TempDir(), filepath.Join(t.TempDir(), "ran")
			sub := filepath.Join(dir, "sub")
			outer, inner := gitRepository(t, dir), gitRepository(t, sub, "one\n", "two\n")
			outer("update-index", "--add", "--cacheinfo", "160000,"+inner("rev-parse", "HEAD")+",sub")
			outer("commit", "-q", "-m", "one")
			if err := os.WriteFile(filepath.Join(sub, ".git", "info", "attributes"), []byte("* filter=evil diff=evil\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			tc.arrange(t, outer, inner, sub, "touch "+mark)
			c, err := review.Find(t.Context(), review.Folder{Git: gitIn(runHere(dir)), Dir: dir}, "")
			if said := c.Diff + fmt.Sprint(err); !strings.Contains(said, tc.says) {
				t.Errorf("%s, want %q", said, tc.says)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("a program of the submodule ran")
			}
			outer(tc.control)
			if _, err := os.Stat(mark); err != nil {
				t.Error("positive control: plain git ran none either")
			}
		})
	}
}

// TestGitOfAReviewFetchesNothing: objects that a partial clone lacks are not fetched, which would run a program
// that the repository's settings name; what is there is reviewed.
func TestGitOfAReviewFetchesNothing(t *testing.T) {
	dir, mark := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	git := gitRepository(t, dir, "one\n", "two\n", "three\n")
	blob := git("rev-parse", "HEAD~2:a.txt")
	if err := os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	git("config", "core.repositoryFormatVersion", "1")
	git("config", "extensions.partialClone", "origin")
	git("config", "remote.origin.promisor", "true")
	git("config", "remote.origin.url", dir)
	git("config", "remote.origin.uploadpack", "touch "+mark+"; false")
	h := host.Local(os.Environ())
	defer h.Close() //nolint:errcheck // nothing is left to be said
	for where, run := range map[string]runner{"here": runHere(dir), "there": runThere(h, dir)} {
		in := review.Folder{Git: gitIn(run), Dir: dir}
		if c, err := review.Find(t.Context(), in, "HEAD~1"); err != nil || !strings.Contains(c.Diff, "+three") {
			t.Errorf("%s: what is there: %+v, %v", where, c, err)
		}
		if _, err := review.Find(t.Context(), in, "HEAD~2"); err == nil {
			t.Errorf("%s: the missing object was read", where)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: a program of the repository ran", where)
		}
	}
	control := exec.Command("git", "-C", dir, "diff", "HEAD~2")
	_ = control.Run() // it can't fetch either
	if _, err := os.Stat(mark); err != nil {
		t.Error("positive control: plain git ran none either")
	}
}
