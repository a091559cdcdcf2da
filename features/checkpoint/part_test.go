package checkpoint

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/agent/policy"
	"buddy/agent/stream"
	"buddy/agent/turn"
	"buddy/agent/undo"
	"buddy/agent/undo/snapshot"
)

// What a dialog promises about /undo is true: not in a folder that is too large, and not for files that are not kept.
func TestPromiseOfUndo(t *testing.T) {
	for name, c := range map[string]struct {
		before         string
		folder, delete bool
	}{
		"few files":      {"mkdir d; echo 1 > d/x", true, true},
		"a large file":   {"mkdir d; head -c 20000000 /dev/zero > d/x", true, false},
		"ignored files":  {"mkdir d; echo x > .gitignore; echo 1 > d/x", true, false},
		"too many files": {"mkdir d; cd d; seq 100001 | xargs touch", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, state := t.TempDir(), t.TempDir()
			cmd := exec.Command("bash", "-ec", c.before)
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var work sync.WaitGroup
			defer work.Wait()
			defer cancel()
			events := stream.New("s1", time.Now, nil)
			p := New(snapshot.Open(snapshot.Options{Store: filepath.Join(state, "store"), State: filepath.Join(state, "session"), Roots: []string{root}}), "local")
			p.Begin(turn.Session{Context: ctx, Work: &work, Stream: events, Changes: undo.New(events, nil, "local", ""), Workspace: root})
			at := p.Facts(func(string) policy.Target { return policy.Target{} })
			if at("web").Undoes != nil {
				t.Error("another target has a promise")
			}
			if got := at("local").Undoes(root); got != c.folder {
				t.Errorf("the folder: %v, want %v", got, c.folder)
			}
			if got := at("local").Undoes(filepath.Join(root, "d")); got != c.delete {
				t.Errorf("deleting d: %v, want %v", got, c.delete)
			}
		})
	}
}

// How a command moved HEAD is read from git's files, without running git.
func TestMovedBranch(t *testing.T) {
	for name, c := range map[string]struct{ before, command, want string }{
		"nothing":        {"", "git status", ""},
		"commit":         {"", "git commit -q --allow-empty -m two", "main was at OLD and is now at NEW (commit); git reset OLD moves it back and leaves your files as they are"},
		"packed refs":    {"git pack-refs --all", "git commit -q --allow-empty -m two", "main was at OLD and is now at NEW (commit); git reset OLD moves it back and leaves your files as they are"},
		"another branch": {"git branch side", "git switch -q side", "HEAD was at main and is now at side; git switch main moves it back"},
		"a commit":       {"git checkout -q --detach", "git switch -q main", "HEAD was at OLD and is now at main; git switch --detach OLD moves it back"},
		"a worktree":     {"git worktree add -q tree", "git -C tree commit -q --allow-empty -m two", "tree was at OLD and is now at NEW (commit); git reset OLD moves it back and leaves your files as they are"},
		"gone":           {"", "rm -rf .git", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			run := func(line string) string {
				cmd := exec.Command("bash", "-ec", line)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			run("git init -q -b main; git commit -q --allow-empty -m one; " + c.before)
			in := filepath.Join(dir, "sub")
			if name == "a worktree" {
				in = filepath.Join(dir, "tree")
			} else if err := os.Mkdir(in, 0o700); err != nil {
				t.Fatal(err)
			}
			was := gitOf(in)
			run(c.command)
			want := strings.ReplaceAll(c.want, "OLD", short(was.commit))
			if strings.Contains(want, "NEW") {
				head := run("git rev-parse HEAD")
				if name == "a worktree" {
					head = run("git -C tree rev-parse HEAD")
				}
				want = strings.ReplaceAll(want, "NEW", short(head))
			}
			if got := was.moved(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	if gitOf(t.TempDir()).moved() != "" {
		t.Error("a folder without a repository has moved")
	}
}
