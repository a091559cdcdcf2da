package worktree

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/adrg/xdg"

	"buddy/texts"
)

// world makes a data folder of its own and a repository with a commit, an ignored .env and node_modules.
func world(t *testing.T) (repo string) {
	t.Helper()
	top := texts.RealPath(t.TempDir())
	for name, value := range map[string]string{
		"XDG_DATA_HOME": filepath.Join(top, "data"), "HOME": top, "GIT_CONFIG_GLOBAL": filepath.Join(top, "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
	} {
		t.Setenv(name, value)
	}
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	write(t, filepath.Join(top, "gitconfig"), "[user]\nname = Ann\nemail = ann@example.com\n[init]\ndefaultBranch = main\n[protocol \"file\"]\nallow = always\n")
	repo = filepath.Join(top, "shop")
	write(t, filepath.Join(repo, "tax.go"), "package shop\n")
	write(t, filepath.Join(repo, "web", "page.html"), "<p>\n")
	write(t, filepath.Join(repo, ".gitignore"), ".env\nnode_modules/\nbuild/\nlink\nbig*\n")
	write(t, filepath.Join(repo, ".worktreeinclude"), ".env\n")
	run(t, repo, "init", "-q")
	run(t, repo, "add", ".")
	run(t, repo, "commit", "-qm", "first")
	write(t, filepath.Join(repo, ".env"), "KEY=1\n")
	write(t, filepath.Join(repo, "node_modules", "x", "index.js"), "x\n")
	return repo
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs git as the person would and returns its output.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func enter(t *testing.T, dir, name string) *Tree {
	t.Helper()
	tree, _, err := Enter(context.Background(), dir, Request{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Release)
	return tree
}

// leave ends the session in a worktree from another folder, as a host does.
func leave(t *testing.T, tree *Tree) string {
	t.Helper()
	return tree.Leave(context.Background(), false, true)
}

func clean(t *testing.T, repo string) {
	t.Helper()
	if out := run(t, repo, "status", "--porcelain"); out != "" {
		t.Errorf("the main checkout has changes:\n%s", out)
	}
	if out := run(t, repo, "worktree", "list"); strings.Count(out, "\n") != 0 {
		t.Errorf("worktrees are left:\n%s", out)
	}
	if out := run(t, repo, "branch", "--list", "buddy/*"); out != "" {
		t.Errorf("branches are left: %s", out)
	}
}

func TestAWorktreeWithoutChangesIsRemovedAtTheEnd(t *testing.T) {
	repo := world(t)
	tree, within, err := Enter(context.Background(), filepath.Join(repo, "web"), Request{Name: "fix-tax"})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(Root(), "shop", "fix-tax", "web"); within != want {
		t.Errorf("the session starts in %s, want %s", within, want)
	}
	if info, err := os.Stat(tree.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if text, _ := os.ReadFile(filepath.Join(tree.Dir(), ".env")); string(text) != "KEY=1\n" {
		t.Errorf(".env has %q", text)
	}
	if exists(filepath.Join(tree.Dir(), "node_modules")) {
		t.Error("node_modules was copied, which .worktreeinclude does not list")
	}
	if on := run(t, tree.Dir(), "branch", "--show-current"); on != "buddy/fix-tax" {
		t.Errorf("it is on %s", on)
	}
	if got := MainOf(within); got != filepath.Join(repo, "web") {
		t.Errorf("its main folder is %q", got)
	}
	if line := leave(t, tree); line != "The worktree fix-tax had no changes and was removed." {
		t.Error(line)
	}
	clean(t, repo)
}

func TestAWorktreeIsKeptForAnythingThatWouldBeLost(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string)
		want string
	}{
		"a commit": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "tax.go"), "package tax\n")
			run(t, dir, "commit", "-qam", "rename")
		}, "kept: 1 commit. buddy worktrees lists it; /merge brings it back."},
		"a change":          {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "tax.go"), "") }, "kept: 1 changed file."},
		"an untracked file": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a b\n\x1b[31m"), "") }, "kept: 1 changed file."},
		"an ignored folder": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "build", "out"), "x") }, "kept: 1 ignored file."},
		"a changed .env":    {func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".env"), "KEY=22\n") }, "kept: 1 ignored file."},
		"another branch":    {func(t *testing.T, dir string) { run(t, dir, "switch", "-qc", "other") }, "kept: on the branch other."},
		"a commit elsewhere": {func(t *testing.T, dir string) {
			run(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
			run(t, dir, "switch", "-q", "--detach", "HEAD~1")
		}, "kept: 1 commit, on another branch."},
	} {
		t.Run(name, func(t *testing.T) {
			repo := world(t)
			tree := enter(t, repo, "one")
			c.do(t, tree.Dir())
			if line := leave(t, tree); !strings.Contains(line, c.want) {
				t.Errorf("%q, want %q", line, c.want)
			}
			if !exists(tree.Dir()) {
				t.Error("the worktree is gone")
			}
			again := enter(t, repo, "one")
			if again.Dir() != tree.Dir() || again.Branch != tree.Branch {
				t.Error("the name opens another worktree")
			}
		})
	}
}

func TestAProgramInTheWorktreeKeepsIt(t *testing.T) {
	repo := world(t)
	tree := enter(t, repo, "one")
	c := exec.Command("sleep", "60")
	c.Dir = tree.Dir()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	if _, err := os.Stat("/proc/self/cwd"); err != nil {
		t.Skip("only Linux shows the folders of processes")
	}
	if line := leave(t, tree); !strings.Contains(line, "kept: 1 running program.") {
		t.Error(line)
	}
}

func TestASecondSessionKeepsTheWorktree(t *testing.T) {
	repo := world(t)
	first, second := enter(t, repo, "one"), enter(t, repo, "one")
	if line := leave(t, first); line != "" || !exists(first.Dir()) {
		t.Errorf("the first session removed it: %q", line)
	}
	if line := leave(t, second); !strings.Contains(line, "was removed") {
		t.Error(line)
	}
	clean(t, repo)
}

func TestTakenNamesAndBranches(t *testing.T) {
	repo := world(t)
	run(t, repo, "branch", "buddy/one")
	tree := enter(t, repo, "one")
	if tree.Branch != "buddy/one-2" {
		t.Errorf("its branch is %s", tree.Branch)
	}
	leave(t, tree)
	if run(t, repo, "branch", "--list", "buddy/*") != "buddy/one" {
		t.Error("the branch of somebody else is gone")
	}
	write(t, filepath.Join(Root(), "shop", "mine", "x"), "x")
	if _, _, err := Enter(context.Background(), repo, Request{Name: "mine"}); err == nil || !strings.Contains(err.Error(), "buddy did not make it") {
		t.Error(err)
	}
	other := filepath.Join(filepath.Dir(repo), "b", "shop")
	write(t, filepath.Join(other, "x"), "x")
	run(t, other, "init", "-q")
	run(t, other, "add", ".")
	run(t, other, "commit", "-qm", "x")
	if dir := enter(t, other, "one").Dir(); filepath.Dir(filepath.Dir(dir)) != Root() || strings.HasPrefix(dir, filepath.Join(Root(), "shop")+"/") {
		t.Errorf("another repository of that name shares the folder: %s", dir)
	}
	for _, bad := range []string{"../x", ".records", "a b", "-x", "a..b", "x.lock", "a/b", strings.Repeat("x", 61), "\x1b[31m", "ü"} {
		if _, _, err := Enter(context.Background(), repo, Request{Name: bad}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestMadeUpNames(t *testing.T) {
	for prompt, want := range map[string]string{
		"Fix the tax rounding, please": "fix-the-tax-rounding", "": "", "…": "", "../../etc": "etc", "-rf /": "rf",
		"a supercalifragilisticexpialidocious word": "a",
	} {
		if got := slug(prompt); got != want {
			t.Errorf("slug(%q) = %q, want %q", prompt, got, want)
		}
		if name := slug(prompt); name != "" && CheckName(name) != nil {
			t.Errorf("%q is a bad name", name)
		}
	}
}

func TestEightStartsAtOnce(t *testing.T) {
	repo := world(t)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var dirs, branches []string
	for i := range 8 {
		wait.Go(func() {
			q := Request{Prompt: "fix the tax"}
			if i < 2 {
				q = Request{Name: "shared"} // two of them share one
			}
			tree, _, err := Enter(context.Background(), repo, q)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			dirs, branches = append(dirs, tree.Dir()), append(branches, run(t, tree.Dir(), "branch", "--show-current"))
			t.Cleanup(tree.Release)
		})
	}
	wait.Wait()
	slices.Sort(dirs)
	slices.Sort(branches)
	if n := len(slices.Compact(dirs)); n != 7 || len(slices.Compact(branches)) != 7 {
		t.Errorf("%d worktrees: %v", n, dirs)
	}
}

func TestFoldersWithoutACommitToStartFrom(t *testing.T) {
	repo := world(t)
	top := filepath.Dir(repo)
	for name, c := range map[string]struct{ make, want string }{
		"no repository": {"", "is not in a git repository"},
		"bare":          {"init -q --bare", "is a bare repository"},
		"no commit":     {"init -q", "has no commit yet; a worktree starts from a commit"},
	} {
		dir := filepath.Join(top, strings.ReplaceAll(name, " ", "-"))
		write(t, filepath.Join(dir, "x"), "")
		if c.make != "" {
			run(t, dir, strings.Fields(c.make)...)
		}
		if _, _, err := Enter(context.Background(), dir, Request{Name: "x"}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	run(t, repo, "switch", "-q", "--orphan", "new")
	if _, _, err := Enter(context.Background(), repo, Request{Name: "x"}); err == nil || !strings.Contains(err.Error(), `the branch "new"`) {
		t.Error(err)
	}
	if all, _ := filepath.Glob(filepath.Join(Root(), "*", records, "x.*")); len(all) > 0 {
		t.Errorf("notes are left: %v", all)
	}
}

func TestAFolderDeletedBehindOurBackIsMadeAgainOnItsBranch(t *testing.T) {
	repo := world(t)
	tree := enter(t, repo, "one")
	run(t, tree.Dir(), "commit", "-q", "--allow-empty", "-m", "work")
	if err := os.RemoveAll(tree.Dir()); err != nil {
		t.Fatal(err)
	}
	if line := leave(t, tree); !strings.Contains(line, "is gone") {
		t.Error(line)
	}
	again := enter(t, repo, "one")
	if got := run(t, again.Dir(), "log", "-1", "--format=%s"); got != "work" {
		t.Errorf("its commit is %q", got)
	}
	if said := again.TakeNotices(); len(said) == 0 || !strings.Contains(strings.Join(said, "\n"), "was gone") {
		t.Errorf("%q", said)
	}
}

func TestAMovedMainCheckoutKeepsItsWorktrees(t *testing.T) {
	repo := world(t)
	tree := enter(t, repo, "one")
	write(t, filepath.Join(tree.Dir(), "new"), "x")
	tree.Release()
	moved := filepath.Join(filepath.Dir(repo), "elsewhere")
	if err := os.Rename(repo, moved); err != nil {
		t.Fatal(err)
	}
	line := tree.Leave(context.Background(), false, true)
	if !strings.Contains(line, "is kept") {
		t.Error(line)
	}
	r, err := find(context.Background(), moved, nil)
	if err != nil || !r.known() {
		t.Fatalf("its worktrees are not found: %v", err)
	}
	back := filepath.Join(filepath.Dir(repo), "again", "shop") // of the same name, at another place
	if err := os.MkdirAll(filepath.Dir(back), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(moved, back); err != nil {
		t.Fatal(err)
	}
	again := enter(t, back, "one")
	if again.Dir() != tree.Dir() || run(t, again.Dir(), "status", "--porcelain") != "?? new" {
		t.Errorf("%s is not the same worktree", again.Dir())
	}
}

func TestAKilledStartIsCompletedOrRemoved(t *testing.T) {
	for name, cut := range map[string]func(t *testing.T, repo string, tree *Tree){
		"before the worktree": func(t *testing.T, repo string, tree *Tree) { run(t, repo, "worktree", "remove", tree.Dir()) },
		"in the middle of the checkout": func(t *testing.T, repo string, tree *Tree) {
			admin := run(t, tree.Dir(), "rev-parse", "--absolute-git-dir")
			write(t, filepath.Join(admin, "locked"), "initializing\n")
			for _, gone := range []string{filepath.Join(admin, "index"), filepath.Join(tree.Dir(), "tax.go"), filepath.Join(tree.Dir(), ".env")} {
				if err := os.Remove(gone); err != nil {
					t.Fatal(err)
				}
			}
		},
		"before the session": func(*testing.T, string, *Tree) {},
	} {
		for _, after := range []string{"again", "remove"} {
			t.Run(name+", "+after, func(t *testing.T) {
				repo := world(t)
				tree := enter(t, repo, "one")
				tree.Ready = name == "before the session"
				if err := tree.save(); err != nil {
					t.Fatal(err)
				}
				cut(t, repo, tree)
				tree.Release() // the kernel does this
				if after == "remove" {
					removed(t, repo, "one")
					clean(t, repo)
					return
				}
				again := enter(t, repo, "one")
				if out := run(t, again.Dir(), "status", "--porcelain"); out != "" || !exists(filepath.Join(again.Dir(), "tax.go")) {
					t.Errorf("it is not complete: %s", out)
				}
				if line := leave(t, again); !strings.Contains(line, "was removed") {
					t.Error(line)
				}
				clean(t, repo)
			})
		}
	}
}

func TestSubmodules(t *testing.T) {
	repo := world(t)
	lib := filepath.Join(filepath.Dir(repo), "lib")
	write(t, filepath.Join(lib, "x"), "x")
	run(t, lib, "init", "-q")
	run(t, lib, "add", ".")
	run(t, lib, "commit", "-qm", "x")
	run(t, repo, "submodule", "--quiet", "add", lib, "lib")
	run(t, repo, "commit", "-qm", "lib")
	tree := enter(t, repo, "one")
	if said := strings.Join(tree.TakeNotices(), "\n"); !strings.Contains(said, "(lib). To fill them: git submodule update --init") {
		t.Errorf("%q", said)
	}
	run(t, tree.Dir(), "submodule", "--quiet", "update", "--init")
	if line := leave(t, tree); !strings.Contains(line, "filled submodule, which git can't remove") || !exists(tree.Dir()) {
		t.Error(line)
	}
	if line := leave(t, enter(t, repo, "two")); !strings.Contains(line, "was removed") {
		t.Error(line)
	}
}

func TestSetupRunsOnceInANewWorktree(t *testing.T) {
	repo := world(t)
	in := func(setup string) *Tree {
		tree, _, err := Enter(context.Background(), repo, Request{Name: "one", Setup: setup, Environ: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tree.Release)
		return tree
	}
	tree := in("mkdir node_modules && echo x >> node_modules/made")
	in("echo x >> node_modules/made").Release()
	if text, _ := os.ReadFile(filepath.Join(tree.Dir(), "node_modules", "made")); string(text) != "x\n" {
		t.Errorf("it ran not once: %q", text)
	}
	if line := leave(t, tree); !strings.Contains(line, "was removed") { // buddy put node_modules there
		t.Error(line)
	}
	failed := in("echo no network >&2; exit 3")
	if said := strings.Join(failed.TakeNotices(), "\n"); !strings.Contains(said, "setup failed") || !strings.Contains(said, "no network") {
		t.Errorf("%q", said)
	}
}

func TestHostileIncludeFiles(t *testing.T) {
	repo := world(t)
	outside := filepath.Join(filepath.Dir(repo), "secret")
	write(t, outside, "secret")
	write(t, filepath.Join(repo, ".worktreeinclude"), "../../etc/passwd\n../secret\n/etc/passwd\n**\nlink\nbuild/\n!node_modules/\n")
	for _, link := range [][2]string{{outside, "link"}, {filepath.Dir(outside), "build/up"}, {"/dev/zero", "build/zero"}} {
		if err := os.MkdirAll(filepath.Join(repo, "build"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link[0], filepath.Join(repo, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(repo, "build", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range maxIncluded + 5 {
		write(t, filepath.Join(repo, "build", "many", fmt.Sprint(i)), "")
	}
	f, err := os.Create(filepath.Join(repo, "big"))
	if err == nil {
		err = f.Truncate(maxIncludedBytes + 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	tree := enter(t, repo, "one")
	files := 0
	_ = filepath.WalkDir(tree.Dir(), func(at string, e os.DirEntry, _ error) error {
		if e.Type()&os.ModeSymlink != 0 || e.Name() == "secret" || e.Name() == "passwd" || e.Name() == "big" || e.Name() == "pipe" {
			t.Errorf("%s was copied", at)
		}
		if strings.Contains(at, "/many/") {
			files++
		}
		return nil
	})
	if files == 0 || files > maxIncluded {
		t.Errorf("%d files were copied", files)
	}
	said := strings.Join(tree.TakeNotices(), "\n")
	for _, want := range []string{"at most 1000 files and 100 MB", "only regular files"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in %q", want, said)
		}
	}
	for name, spoil := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(outside, path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o755) },
		"huge":   func(path string) error { return os.WriteFile(path, make([]byte, maxIncludeFile+1), 0o600) },
	} {
		path := filepath.Join(repo, ".worktreeinclude")
		_ = os.Remove(path)
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(enter(t, repo, name).TakeNotices(), "\n"); !strings.Contains(said, "were not copied") {
			t.Errorf("%s: %q", name, said)
		}
		_ = os.RemoveAll(path)
	}
}

// programs makes the repository name programs that leave a file when they run.
func programs(t *testing.T, repo string) (mark string) {
	t.Helper()
	mark = filepath.Join(filepath.Dir(repo), "ran")
	spy := func(name string) string {
		path := filepath.Join(filepath.Dir(repo), "spy-"+name)
		write(t, path, "#!/bin/sh\necho "+name+" >> '"+mark+"'\ncat\n")
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-merge-commit", "commit-msg", "post-merge", "pre-rebase", "post-rewrite"} {
		path := filepath.Join(repo, ".git", "hooks", hook)
		write(t, path, "#!/bin/sh\necho "+hook+" >> '"+mark+"'\n")
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(repo, ".gitattributes"), "*.go filter=evil merge=evil diff=evil\n")
	for name, program := range map[string]string{
		"core.fsmonitor": spy("fsmonitor"), "filter.evil.smudge": spy("smudge"), "filter.evil.clean": spy("clean"), "filter.evil.process": spy("process"),
		"filter.evil.required": "true", "merge.evil.driver": spy("driver"), "diff.evil.command": spy("diff"), "diff.evil.textconv": spy("textconv"), "diff.external": spy("external"),
		"gpg.program": spy("gpg"), "commit.gpgSign": "true", "core.sshCommand": spy("ssh"), "core.pager": spy("pager"),
	} {
		run(t, repo, "config", name, program)
	}
	return mark
}

func TestAHostileRepositoryRunsNothing(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		repo := world(t)
		mark := programs(t, repo)
		tree, _, err := Enter(context.Background(), repo, Request{Name: "one", Trusted: func(string) bool { return trusted }})
		if err != nil && !trusted {
			t.Fatal(err)
		}
		if !trusted {
			write(t, filepath.Join(tree.Dir(), "tax.go"), "package tax\n")
			_ = tree.Leave(context.Background(), false, true)
			p := &Part{tree: tree, within: tree.Dir()}
			if _, _, err := p.DiffToBase(context.Background()); err != nil {
				t.Error(err)
			}
		}
		ran, _ := os.ReadFile(mark)
		if trusted && !strings.Contains(string(ran), "post-checkout") && !strings.Contains(string(ran), "smudge") && !strings.Contains(string(ran), "process") {
			t.Errorf("the control ran nothing: %q", ran)
		}
		if !trusted && len(ran) > 0 {
			t.Errorf("the repository ran: %s", ran)
		}
	}
}
