package target

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/pane/confine"
)

// lossy returns a repository with changes of all sorts and a policy that queries it. git runs a program of the
// repository in each query, which creates the file ran.
func lossy(t *testing.T) (policy.Policy, string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(t.TempDir(), "run"))
	t.Setenv("HOME", t.TempDir())
	o := tmux.Options{Session: "loss", Exe: "none", Greeting: pane.Greeting{Cwd: dir, Env: os.Environ(), Reach: confine.Reach{Read: []string{dir}}}}
	if err := tmux.Confines(o); errors.Is(err, confine.ErrImpossible) {
		t.Skip(err)
	}
	script := `set -e; git init -q .; git config user.name x; git config user.email x@x
mkdir sub; echo 1 >a.go; echo 1 >'b c'; echo 1 >sub/d; printf '*.o\n' >.gitignore; git add -A; git commit -qm one
echo 2 >a.go; git stash -q; echo 3 >a.go; echo 4 >'b c'; git add 'b c'; echo 5 >sub/d
touch new old.o "$(printf 'x\n\033[2J')"; mkdir fresh; touch fresh/f
git config filter.look.clean "touch '$PWD/ran'; cat"; echo 'sub/* filter=look' >.git/info/attributes`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shells := tmux.NewPlain(o)
	t.Cleanup(func() { _, _ = shells.Close(context.Background()) })
	return policy.Policy{Workspace: dir, Confined: true, Git: func(ctx context.Context, at string, args ...string) ([]byte, error) {
		return gitAnswer(ctx, shells, at, args...)
	}}, dir
}

// TestGitLosses: the question for approval lists the changes in a repository, and the queries run no program of the
// repository with any effect.
func TestGitLosses(t *testing.T) {
	p, dir := lossy(t)
	ask := p.Git
	p.Git = func(ctx context.Context, at string, args ...string) ([]byte, error) {
		return ask(context.WithoutCancel(ctx), at, args...) // a busy machine takes longer than a person waits
	}
	for command, want := range map[string]string{
		"git reset --hard":               `git reset --hard discards your changes in 3 files: a.go, "b c", sub/d`,
		"git -C sub checkout .":          "git checkout discards your changes in 1 file: sub/d",
		"cd sub && git restore ../a.go":  "git restore discards your changes in 1 file: a.go",
		"git checkout -- .":              "git checkout -- discards your changes in 2 files: a.go, sub/d",
		"git checkout HEAD -- .":         `git checkout -- discards your changes in 3 files: a.go, "b c", sub/d`,
		"sh -c 'git checkout -- *.go'":   "git checkout -- discards your changes in 1 file: a.go",
		"git checkout other":             "git checkout finds no changes to discard",
		"git clean -f":                   `git clean deletes 2 untracked files: new, "x\n\x1b[2J"`,
		"git clean -fd":                  `git clean deletes 3 untracked files: fresh/, new, "x\n\x1b[2J"`,
		"git clean -fdX":                 "git clean -X deletes 1 ignored file: old.o",
		"git stash drop":                 "git stash drop deletes 1 stash: stash@{0} WIP on master: ",
		"git -C /usr reset --hard":       "could not determine what would be lost: git gave no answer",
		"git reset --hard; git clean -f": `git reset --hard discards your changes in 3 files: a.go, "b c", sub/d; git clean deletes 2 untracked`,
	} {
		act := action.Action{Kind: action.Shell, Tool: "run_shell", Command: command, Cwd: dir}
		got := strings.ReplaceAll(strings.Join(p.Context(act, action.ModeAsk).Loses, "; "), "on main:", "on master:")
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a program of the repository has written to it")
	}
	cmd := exec.Command("git", "-C", dir, "status") // outside the sandbox the program does write
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err != nil {
		t.Error("the repository is not hostile: ", err)
	}
}

// TestGitLossesSlow: a repository that makes git wait does not delay the question.
func TestGitLossesSlow(t *testing.T) {
	p, dir := lossy(t)
	if err := exec.Command("git", "-C", dir, "config", "filter.look.clean", "sleep 600").Run(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got := p.Context(action.Action{Kind: action.Shell, Command: "git reset --hard", Cwd: dir}, action.ModeAsk).Loses
	if len(got) != 1 || !strings.Contains(got[0], "git took too long") || time.Since(began) > time.Minute {
		t.Errorf("%q after %s", got, time.Since(began))
	}
}
