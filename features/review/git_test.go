package review

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tmux/pane"
	"buddy/tmux/pane/confine"
	"buddy/tools/target"
)

// TestGitOfAReviewRunsNoProgramOfTheRepository: filters, diff drivers and watchers in the repository's settings do not
// run, though plain git runs them.
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
	defer h.Close() //nolint:errcheck // errors do not matter at the end
	for where, run := range map[string]runner{"here": runHere(dir), "there": runThere(h, dir)} {
		c, err := Find(t.Context(), Folder{Git: gitIn(run), Dir: dir}, "")
		if err != nil || !strings.Contains(c.Diff, "+two") {
			t.Fatalf("%s: %+v, %v", where, c, err)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: a program of the repository ran", where)
		}
	}
	control := exec.Command("git", "diff", "HEAD")
	control.Dir = dir
	_ = control.Run() // git may fail after it ran the program
	if _, err := os.Stat(mark); err != nil {
		t.Error("positive control: plain git ran none either")
	}
}

// TestGitOfAReviewStopsAtTheLimit: a program with too much output is ended, and its output is known to be cut; a failed
// or missing program returns its reason. This holds here and on another machine.
func TestGitOfAReviewStopsAtTheLimit(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, script string
		size         int
		fails        [2]string // here, there
	}{
		{"endless", "exec yes", MaxDiff + 1, [2]string{}},
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
		_ = h.Close() // errors do not matter
	}
}

// gitRepository makes a git repository with a commit for each text of a.txt, and returns a function that runs git in
// it.
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

// TestGitOfAReviewRunsNoProgramOfASubmodule: programs in the settings of a submodule do not run, though plain git runs
// them; a new commit of the submodule is still reported.
func TestGitOfAReviewRunsNoProgramOfASubmodule(t *testing.T) {
	for _, tc := range []struct {
		name    string
		arrange func(t *testing.T, outer, inner func(...string) string, sub, run string)
		control string
		want    string // in the diff or the error
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
			c, err := Find(t.Context(), Folder{Git: gitIn(runHere(dir)), Dir: dir}, "")
			if text := c.Diff + fmt.Sprint(err); !strings.Contains(text, tc.want) {
				t.Errorf("%s, want %q", text, tc.want)
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

// TestGitOfAReviewFetchesNothing: missing objects of a partial clone are not fetched, which would run a program in the
// repository's settings; present objects are reviewed.
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
	defer h.Close() //nolint:errcheck // errors do not matter at the end
	for where, run := range map[string]runner{"here": runHere(dir), "there": runThere(h, dir)} {
		in := Folder{Git: gitIn(run), Dir: dir}
		if c, err := Find(t.Context(), in, "HEAD~1"); err != nil || !strings.Contains(c.Diff, "+three") {
			t.Errorf("%s: what is there: %+v, %v", where, c, err)
		}
		if _, err := Find(t.Context(), in, "HEAD~2"); err == nil {
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

// confinedIn returns a session in a folder whose commands run in the read-only sandbox.
func confinedIn(t *testing.T, dir string) *target.Session {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(t.TempDir(), "run"))
	t.Setenv("HOME", t.TempDir())
	here := &target.Target{Name: "local"}
	s, err := here.Open(target.Environment{Dir: dir, Home: os.Getenv("HOME")}, target.Options{Options: tmux.Options{
		Session: "review", Exe: "none", Greeting: pane.Greeting{Cwd: dir, Env: os.Environ(), Reach: confine.Reach{Read: []string{dir}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background(), t.Logf) })
	if !s.Confined() {
		t.Skip("no read-only sandbox here")
	}
	return s
}

// TestReviewReadsOnlyTheFolder: a repository can't lead a review out of the folder by naming other paths for its files
// and history. Git without the sandbox reads the other repository.
func TestReviewReadsOnlyTheFolder(t *testing.T) {
	real := func() string {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	private, dir := real(), real()
	gitRepository(t, private, "the private diary")
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+private+"/.git\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := func(run runner) string {
		c, err := Find(t.Context(), Folder{Git: gitIn(run), Dir: dir}, "")
		return fmt.Sprint(c.Diff, err)
	}
	if got := found(runConfined(confinedIn(t, dir), dir)); strings.Contains(got, "diary") || !strings.Contains(got, "is not in a git repository") {
		t.Errorf("in the sandbox: %s", got)
	}
	if got := found(runHere(dir)); !strings.Contains(got, "diary") {
		t.Errorf("positive control: without the sandbox nothing was read either: %s", got)
	}

	moved, elsewhere := real(), real()
	gitRepository(t, moved, "one")("config", "core.worktree", elsewhere)
	dir = moved
	if got := found(runHere(dir)); !strings.Contains(got, "its files are elsewhere") {
		t.Errorf("with its files elsewhere: %s", got)
	}
}

// TestReviewInTheSandboxLacksOnlySecrets: files with secrets, which the sandbox hides, are listed as changed; the diff
// of the others is complete, and too much output is known to be cut.
func TestReviewInTheSandboxLacksOnlySecrets(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := gitRepository(t, dir, "one\n")
	put := func(text string) {
		t.Helper()
		for _, name := range []string{".env", "a.txt", "z.txt"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(name+text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(" one\n")
	git("add", "-f", ".")
	git("commit", "-q", "-m", "all")
	put(" two\n")
	s := confinedIn(t, dir)
	if got, err := s.Ask(t.Context(), "cat", filepath.Join(dir, ".env")); err != nil || got.ExitCode == 0 {
		t.Errorf("positive control: the sandbox lets .env be read: %q, %v", got.Stdout, err)
	}
	c, err := Find(t.Context(), Folder{Git: gitIn(runConfined(s, dir)), Dir: dir}, "")
	if err != nil || len(c.Files) != 3 || !c.Files[0].Secret || strings.Contains(c.Diff, ".env") || !strings.Contains(c.Diff, "+a.txt two") || !strings.Contains(c.Diff, "+z.txt two") || c.Cut {
		t.Errorf("%+v, %v", c, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "z.txt"), []byte(strings.Repeat("a line\n", MaxDiff/7)), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Find(t.Context(), Folder{Git: gitIn(runConfined(s, dir)), Dir: dir}, ""); err != nil || !c.Cut || len(c.Diff) > MaxDiff {
		t.Errorf("of a long diff %d bytes, cut %v, %v", len(c.Diff), c.Cut, err)
	}
}
