package executed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"buddy/agent/action"
)

// tree makes a folder with files, each with its name as its content.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		put(t, dir, name, name)
	}
	return dir
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// later is a clock by which everything that is there changed long ago.
func later() time.Time { return time.Now().Add(time.Hour) }

// tick waits until the clock of the file system has gone on.
func tick(t *testing.T) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f")
	changed := func() int64 {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := stampOf(unix.AT_FDCWD, name, false)
		if err != nil {
			t.Fatal(err)
		}
		return s.changed
	}
	for began := changed(); changed() == began; {
		runtime.Gosched()
	}
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// paths are the changes in short.
func paths(all []action.Executed) string {
	var out []string
	for _, e := range all {
		out = append(out, fmt.Sprintf("%s %s %s", e.By, e.Path, e.How))
	}
	return strings.Join(out, ", ")
}

// repository is a folder as git makes it, with a commit.
var repository = []string{".git/HEAD", ".git/objects/aa/bb", ".git/refs/heads/main", ".git/config", ".git/index", ".git/hooks/pre-push.sample", ".git/info/exclude"}

func TestWatchNamesWhatRunsLater(t *testing.T) {
	link := func(to, name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			_ = os.Remove(filepath.Join(dir, name))
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { put(t, dir, name, "other") }
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name string
		do   func(*testing.T, string)
		want string
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"own code", write("main.go"), ""},
		{"a new file of own code", write("lib/b.go"), ""},
		{"what a commit writes", func(t *testing.T, dir string) {
			for _, name := range []string{".git/index", ".git/HEAD", ".git/COMMIT_EDITMSG", ".git/logs/HEAD", ".git/objects/cc/dd", ".git/refs/heads/main"} {
				put(t, dir, name, "other")
			}
		}, ""},
		{"build rules", write("Makefile"), "make Makefile changed"},
		{"build rules deep below", write("a/b/c/Makefile"), "make a/b/c/Makefile new"},
		{"build rules that are gone", remove("Makefile"), "make Makefile gone"},
		{"the same content again", write("same/Makefile"), ""},
		{"a hook", write(".git/hooks/pre-commit"), "git .git/hooks/pre-commit new"},
		{"a sample of a hook", write(".git/hooks/pre-commit.sample"), ""},
		{"settings of git", write(".git/config"), "git .git/config changed"},
		{"attributes", write(".git/info/attributes"), "git .git/info/attributes new"},
		{"what a rebase goes on with", write(".git/rebase-merge/git-rebase-todo"), "git .git/rebase-merge/git-rebase-todo new"},
		{"settings of a submodule", write(".git/modules/lib/config"), "git .git/modules/lib/config changed"},
		{"a repository in the folder", func(t *testing.T, dir string) {
			for _, name := range []string{"HEAD", "objects/x", "refs/x", "config"} {
				put(t, dir, "docs/notes/"+name, "x")
			}
		}, "git docs/notes/config new"},
		{
			"another folder of git's", func(t *testing.T, dir string) { remove(".git")(t, dir); write(".git")(t, dir) },
			"git .git new, git .git/config gone, git .git/modules/lib/config gone",
		},
		{"a hook as a link", link("../../tool", ".git/hooks/pre-commit"), "git .git/hooks/pre-commit new"},
		{"a link in place of build rules", link("main.go", "Makefile"), "make Makefile changed"},
		{"a folder of hooks as a link", link("lib", ".husky"), "git .husky new"},
		{"settings of editors", write(".vscode/tasks.json"), "the editor .vscode/tasks.json new"},
		{"jobs of CI", write(".github/workflows/ci.yml"), "CI .github/workflows/ci.yml changed"},
		{"packages", func(t *testing.T, dir string) {
			write("node_modules/left-pad/index.js")(t, dir)
			write("node_modules/right-pad/index.js")(t, dir)
		}, "npm node_modules/ changed"},
		{"a program that may be run now", func(t *testing.T, dir string) {
			if err := os.Chmod(filepath.Join(dir, "configure"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "a build tool configure changed"},
		{"a folder moved in", func(t *testing.T, dir string) {
			move(t, tree(t, "Makefile", "b/go.mod"), filepath.Join(dir, "lib/in"))
		}, "make lib/in/Makefile new, go lib/in/b/go.mod new"},
		{"a folder moved out", func(t *testing.T, dir string) {
			move(t, filepath.Join(dir, "same"), filepath.Join(t.TempDir(), "out"))
		}, "make same/Makefile gone"},
		{"another folder of the same name", func(t *testing.T, dir string) {
			remove("same")(t, dir)
			move(t, tree(t, "Makefile"), filepath.Join(dir, "same"))
		}, "make same/Makefile changed"},
		{"two folders in each other's place", func(t *testing.T, dir string) {
			move(t, filepath.Join(dir, "lib"), filepath.Join(dir, "x"))
			move(t, filepath.Join(dir, "same"), filepath.Join(dir, "lib"))
			move(t, filepath.Join(dir, "x"), filepath.Join(dir, "same"))
		}, "make lib/Makefile new, make same/Makefile gone"},
		{"nested folders, made and filled", write("new/a/b/.envrc"), "direnv new/a/b/.envrc new"},
		{"a folder made, filled and removed", func(t *testing.T, dir string) {
			write("new/a/Makefile")(t, dir)
			remove("new")(t, dir)
		}, ""},
		{"another folder in place of the workspace", func(t *testing.T, dir string) {
			remove("")(t, dir)
			move(t, tree(t, "a/Makefile"), dir)
		}, "git .git/config gone, git .git/modules/lib/config gone, CI .github/workflows/ci.yml gone, make Makefile gone, make a/Makefile new, a build tool configure gone, npm node_modules/ changed, make same/Makefile gone"},
		{"a link in place of a folder", func(t *testing.T, dir string) {
			remove("same")(t, dir)
			link("lib", "same")(t, dir)
		}, "make same/Makefile gone"},
		{"written by another name", func(t *testing.T, dir string) {
			other := filepath.Join(t.TempDir(), "x")
			if err := os.Link(filepath.Join(dir, "Makefile"), other); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Dir(other), "x", "otherfile")
		}, "make Makefile changed"},
		{"the same size and times", func(t *testing.T, dir string) {
			info, err := os.Stat(filepath.Join(dir, "Makefile"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, "Makefile", "makeFILE")
			if err := os.Chtimes(filepath.Join(dir, "Makefile"), info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, "make Makefile changed"},
		{"a folder mounted over another", func(t *testing.T, dir string) {
			from, over := tree(t, "Makefile"), filepath.Join(dir, "lib")
			if out, err := exec.CommandContext(t.Context(), "mount", "--bind", from, over).CombinedOutput(); err != nil {
				t.Skipf("%v: %s", err, out)
			}
			t.Cleanup(func() {
				if out, err := exec.CommandContext(context.Background(), "umount", over).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
		}, "make lib/Makefile new"},
		{"our own files", write(".buddyx/sessions/x.jsonl"), ""},
		{"a folder that can be read no more", func(t *testing.T, dir string) {
			if os.Getuid() == 0 {
				t.Skip("root reads everything")
			}
			if err := os.Chmod(filepath.Join(dir, ".github"), 0); err != nil {
				t.Fatal(err)
			}
		}, "CI .github/workflows/ci.yml gone, buddy DIR not known"},
	}
	for i, tt := range slices.Concat(tests, tests) {
		late := i >= len(tests) // what was seen first is long settled
		t.Run(fmt.Sprintf("%s, late %v", tt.name, late), func(t *testing.T) {
			dir := tree(t, append(slices.Clone(repository), "main.go", "lib/a.go", "Makefile", "same/Makefile", "configure", ".github/workflows/ci.yml", "node_modules/left-pad/index.js",
				".git/modules/lib/HEAD", ".git/modules/lib/objects/x", ".git/modules/lib/refs/x", ".git/modules/lib/config")...)
			put(t, dir, "same/Makefile", "other")
			w := NewWatch(dir)
			if late {
				w.now = later
			}
			if got := w.Begin(); len(got) > 0 {
				t.Fatalf("before the first command: %s", paths(got))
			}
			tick(t)
			tt.do(t, dir)
			if got := strings.ReplaceAll(paths(w.End(nil)), dir, "DIR"); got != tt.want {
				t.Errorf("says %q, want %q", got, tt.want)
			}
			w.Begin()
			if got := w.End(nil); len(got) > 0 {
				t.Errorf("says it again: %s", paths(got))
			}
		})
	}
}

// Settings of git may name another folder of hooks, and more settings, in every form that git reads.
func TestWatchFollowsTheSettingsOfGit(t *testing.T) {
	for _, tt := range []struct{ name, file, hooks string }{
		{"plain", "config", "hooksPath = tools/run\n"},
		{"quoted", "config", "\thookspath=\"tools/run\"\n"},
		{"with a comment", "config", "\thooksPath = tools/run # ours\n"},
		{"quoted, with a comment", "config", "\thooksPath = \"tools/run\" ; ours\n"},
		{"behind the header", "config", "[core] hooksPath = tools/run\n"},
		{"on two lines", "config", "\thooksPath = tools/\\\nrun\n"},
		{"of a worktree", "config.worktree", "[core]\n\thooksPath = tools/run\n"},
		{"behind a long line", "config", "x = " + strings.Repeat("y", 100_000) + "\nhooksPath = tools/run\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, repository...)
			put(t, dir, ".git/config", "[include]\n\tpath = \"../more.inc\"\n[core]\n")
			put(t, dir, ".git/config.worktree", "[core]\n")
			text, err := os.ReadFile(filepath.Join(dir, ".git", tt.file))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, ".git/"+tt.file, string(text)+tt.hooks)
			put(t, dir, "more.inc", "x")
			w := NewWatch(dir)
			w.Begin()
			put(t, dir, "tools/run/pre-commit", "x")
			put(t, dir, "tools/other", "x")
			put(t, dir, "more.inc", "y")
			if got, want := paths(w.End(nil)), "git more.inc changed, git tools/run/pre-commit new"; got != want {
				t.Errorf("says %q, want %q", got, want)
			}
		})
	}
}

// What changes while no command runs is the person's; what changes while one goes on is the command's.
func TestWatchSaysWhoseChangeItWas(t *testing.T) {
	dir := tree(t, "Makefile")
	w := NewWatch(dir)
	w.Begin()
	w.End(nil)
	put(t, dir, "Makefile", "the person's")
	if got := w.Begin(); len(got) > 0 {
		t.Errorf("the person's change: %s", paths(got))
	}
	goesOn := make(chan struct{})
	if got := w.End(goesOn); len(got) > 0 {
		t.Errorf("nothing changed: %s", paths(got))
	}
	put(t, dir, "Makefile", "of the one that goes on")
	if got := paths(w.Now()); got != "make Makefile changed" {
		t.Errorf("says %q of a command that goes on", got)
	}
	put(t, dir, "go.mod", "just before its end")
	close(goesOn)
	if got := paths(w.Begin()); got != "go go.mod new" {
		t.Errorf("says %q at the next command", got)
	}
	w.End(nil)
	put(t, dir, "go.mod", "the person's")
	if got := w.Now(); len(got) > 0 {
		t.Errorf("says %q when nothing runs", paths(got))
	}
	if got := w.Begin(); len(got) > 0 {
		t.Errorf("the person's change: %s", paths(got))
	}
}

// A folder that is not the workspace is named whole, and judged from itself on.
func TestWatchNamesAddedFoldersWhole(t *testing.T) {
	dir, also := tree(t, "a"), filepath.Join(t.TempDir(), ".vim")
	put(t, also, "notes.txt", "x")
	w := NewWatch(dir, also)
	w.Begin()
	put(t, also, "notes.txt", "y")
	put(t, also, "Makefile", "y")
	if got, want := paths(w.End(nil)), "make "+also+"/Makefile new"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// A root in another one is looked at as part of the first, at every look.
func TestWatchOfFoldersInEachOther(t *testing.T) {
	dir := tree(t, ".vim/notes.txt")
	w := NewWatch(dir, dir, filepath.Join(dir, ".vim"))
	w.now = later
	for _, text := range []string{"one", "two", "three"} {
		w.Begin()
		tick(t)
		put(t, dir, ".vim/notes.txt", text)
		put(t, dir, ".vim/"+text, "x")
		if got, want := paths(w.End(nil)), "the editor .vim/notes.txt changed, the editor .vim/"+text+" new"; got != want {
			t.Errorf("says %q, want %q", got, want)
		}
	}
}

// A change that leaves the stamp as it was, since the clock did not tick, is seen: what has just changed is
// read again.
func TestWatchReadsAgainWhatHasJustChanged(t *testing.T) {
	dir := tree(t, "Makefile", "a/b.go")
	w := NewWatch(dir)
	w.Begin()
	sub, file := w.known[filepath.Join(dir, "a")], w.known[dir].files["Makefile"]
	put(t, dir, "a/go.mod", "x")
	put(t, dir, "Makefile", "makeFILE")
	for path, s := range map[string]*stamp{sub.path: &sub.stamp, file.path: &file.stamp} {
		now, err := stampOf(unix.AT_FDCWD, path, false)
		if err != nil {
			t.Fatal(err)
		}
		*s = now // as if all happened within a tick
	}
	if got, want := paths(w.End(nil)), "make Makefile changed, go a/go.mod new"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// A folder that a look left out, and that the next one sees again, is compared.
func TestWatchForgetsWhatItDoesNotSee(t *testing.T) {
	dir := tree(t, "a/b/Makefile")
	w := NewWatch(dir)
	w.now = later
	w.Begin()
	sub := w.known[filepath.Join(dir, "a/b")]
	w.looks++ // one that did not come by
	(&scan{w: w, changes: make(map[string]action.Executed)}).gone()
	if w.known[sub.path] != nil || sub.files != nil {
		t.Fatalf("knows %+v", sub)
	}
	if got, want := paths(w.End(nil)), "make a/b/Makefile new"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	if w.known[sub.path] == nil {
		t.Error("it is not known again")
	}
}

// Every listed name is found by the quick test as well.
func TestQuickTestFindsAllRows(t *testing.T) {
	for _, p := range patterns() {
		if name := strings.ReplaceAll(p.elements[len(p.elements)-1], "*", "x"); !mayList(name) || !mayList(strings.ToUpper(name)) {
			t.Errorf("%s is left out", name)
		}
	}
	if mayList("main_test.go") || mayList("index.ts") {
		t.Error("own code may be listed")
	}
}

// The real git: a commit, a branch and a rebase are no changes, its settings are.
func TestWatchWithGit(t *testing.T) {
	dir := tree(t, "a.txt")
	git := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	w := NewWatch(dir)
	w.Begin()
	git("add", ".")
	git("commit", "-qm", "one")
	git("switch", "-qc", "side")
	put(t, dir, "a.txt", "b")
	git("commit", "-qam", "two")
	git("rebase", "-q", "main")
	git("gc", "-q")
	if got := w.End(nil); len(got) > 0 {
		t.Errorf("says %s of commits", paths(got))
	}
	w.Begin()
	git("config", "core.fsmonitor", "./evil")
	if got := paths(w.End(nil)); got != "git .git/config changed" {
		t.Errorf("says %q of settings", got)
	}
}

func BenchmarkWatch(b *testing.B) {
	var names []string
	for i := range 2000 {
		names = append(names, fmt.Sprintf("p%d/q/a.go", i), fmt.Sprintf("p%d/q/b_test.go", i))
	}
	for i := range 100 {
		names = append(names, fmt.Sprintf("p%d/Makefile", i))
	}
	w := NewWatch(tree(b, names...))
	w.Begin()
	w.End(nil)
	for b.Loop() {
		w.Begin()
		w.End(nil)
	}
}
