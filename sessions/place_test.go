package sessions

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/texts"
)

// git runs git in a folder, with test settings only.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return string(out)
}

// repository creates a repository with one commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(texts.RealPath(t.TempDir()), "shop")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	return dir
}

func storeOf(t *testing.T, cwd string) Store {
	t.Helper()
	s, notice, err := Dir(cwd, InState)
	if err != nil || notice != "" {
		t.Fatalf("%s: %q, %v", cwd, notice, err)
	}
	return s
}

// All folders and worktrees of a repository share their sessions, and no other folder does.
func TestProjectOfAFolder(t *testing.T) {
	setState(t)
	shop := repository(t)
	above := filepath.Dir(shop)
	git(t, shop, "worktree", "add", "-q", "../tree")
	git(t, above, "clone", "-q", "shop", "clone")
	git(t, above, "clone", "-q", "--bare", "shop", "bare.git")
	git(t, above+"/bare.git", "worktree", "add", "-q", "../of-bare", "main")
	git(t, shop, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../clone", "sub")
	planted := filepath.Join(above, "planted")
	if err := errors.Join(
		os.MkdirAll(shop+"/a/b", 0o755), os.Symlink(shop, above+"/link"), os.MkdirAll(planted+"/c", 0o755), os.MkdirAll(above+"/plain/d", 0o755),
		os.WriteFile(planted+"/.git", []byte("gitdir: "+shop+"/.git/worktrees/tree\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"shop": "shop", "shop/a/b": "shop", "tree": "shop", "link": "shop", "link/a": "shop", "clone": "clone", "bare.git": "bare.git", "of-bare": "bare.git",
		"shop/sub": "shop/sub", "planted": "planted", "planted/c": "planted", "plain": "plain", "plain/d": "plain/d", ".": ".",
	} {
		if got := Project(storeOf(t, filepath.Join(above, dir))); got != filepath.Join(above, want) {
			t.Errorf("%s is of project %s, want %s", dir, got, want)
		}
	}
	if storeOf(t, shop).Path() == storeOf(t, above+"/clone").Path() {
		t.Error("two projects have the same sessions")
	}
}

// Removing files from a checkout, or the whole checkout, removes no session.
func TestSessionsOutliveTheCheckout(t *testing.T) {
	for name, remove := range map[string]func(t *testing.T, shop, tree string){
		"git clean":       func(t *testing.T, shop, _ string) { git(t, shop, "clean", "-qfdx") },
		"git stash":       func(t *testing.T, shop, _ string) { git(t, shop, "stash", "-q", "-a") },
		"worktree remove": func(t *testing.T, shop, tree string) { git(t, shop, "worktree", "remove", "--force", tree) },
		"rm -rf": func(t *testing.T, shop, _ string) {
			if err := errors.Join(os.RemoveAll(shop), os.Mkdir(shop, 0o755)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			setState(t)
			shop := repository(t)
			tree := filepath.Join(filepath.Dir(shop), "tree")
			git(t, shop, "worktree", "add", "-q", tree)
			id := stored(t, storeOf(t, tree), 2)
			if out := git(t, shop, "status", "--porcelain"); out != "" {
				t.Errorf("git sees %q", out)
			}
			if to, err := os.Readlink(shop + "/.buddyx/sessions"); to != storeOf(t, shop).Path() || err != nil {
				t.Errorf("the link leads to %q, %v", to, err)
			}
			remove(t, shop, tree)
			s := storeOf(t, shop)
			if got := len(load(t, open(t, s, id)).Events); got == 0 {
				t.Error("nothing is left of the session")
			}
			stored(t, s, 1)
			if name == "git stash" {
				git(t, shop, "stash", "pop", "-q") // fails if the link was created meanwhile
			}
		})
	}
}

// A moved project is recognized by its link, and gets its sessions when a person wants that.
func TestMovedProject(t *testing.T) {
	setState(t)
	shop := repository(t)
	old := storeOf(t, shop)
	id := stored(t, old, 1)
	if err := os.MkdirAll(MemoryDir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(MemoryDir(old), "memory.md"), []byte("- a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := shop + "2"
	if err := os.Rename(shop, now); err != nil {
		t.Fatal(err)
	}
	s := storeOf(t, now)
	if from := MovedFrom(s); from != shop {
		t.Fatalf("moved from %q, want %q", from, shop)
	}
	if _, err := Adopt(s, "/no/such/project"); err == nil || !strings.Contains(err.Error(), "no known sessions for /no/such/project") {
		t.Errorf("an unknown project: %v", err)
	}
	if _, err := Adopt(s, filepath.Dir(shop)); err == nil || !strings.Contains(err.Error(), "still exists") {
		t.Errorf("a folder that is there: %v", err)
	}
	if m, err := Adopt(s, shop); m != (Moved{Sessions: 1}) || err != nil {
		t.Fatalf("adopted %v, %v", m, err)
	}
	load(t, open(t, s, id))
	if text, err := os.ReadFile(filepath.Join(MemoryDir(s), "memory.md")); string(text) != "- a\n" || err != nil {
		t.Errorf("memory %q, %v", text, err)
	}
	if all, err := Folders(); len(all) != 1 || err != nil {
		t.Errorf("folders %v, %v", all, err)
	}
	if MovedFrom(s) != "" {
		t.Error("it is said to be moved still")
	}
	if to, err := os.Readlink(now + "/.buddyx/sessions"); to != s.Path() || err != nil {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// A link in a project is a hint only if it leads to sessions of a project that is gone, and nothing is stored through
// it.
func TestPlantedLinks(t *testing.T) {
	state := setState(t)
	other := repository(t)
	stored(t, storeOf(t, other), 1)
	elsewhere := t.TempDir()
	if err := os.MkdirAll(elsewhere+"/projects/x-1/sessions", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"of a project that is there": storeOf(t, other).Path(),
		"nowhere":                    filepath.Join(state, "buddy", "projects", "no-1", "sessions"),
		"somebody else's":            elsewhere + "/projects/x-1/sessions",
		"the state folder":           filepath.Join(state, "buddy"),
	} {
		t.Run(name, func(t *testing.T) {
			shop := repository(t)
			if err := errors.Join(os.Mkdir(shop+"/.buddyx", 0o755), os.Symlink(to, shop+"/.buddyx/sessions")); err != nil {
				t.Fatal(err)
			}
			s := storeOf(t, shop)
			if from := MovedFrom(s); from != "" {
				t.Errorf("the project seems to be moved from %s", from)
			}
			if m, err := Move(s); m != (Moved{}) || err != nil {
				t.Errorf("moved %v, %v", m, err)
			}
			stored(t, s, 1)
			want := to
			if name == "nowhere" {
				want = s.Path() // a link of ours to a missing folder is useless
			}
			if got, err := os.Readlink(shop + "/.buddyx/sessions"); got != want || err != nil {
				t.Errorf("the link leads to %q now, %v", got, err)
			}
			if all, err := s.List(); len(all) != 1 || err != nil {
				t.Errorf("%d sessions, %v", len(all), err)
			}
		})
	}
	shop := repository(t)
	if err := os.Symlink(elsewhere, shop+"/.buddyx"); err != nil {
		t.Fatal(err)
	}
	stored(t, storeOf(t, shop), 1)
	if exists(elsewhere+"/sessions") || exists(elsewhere+"/.gitignore") {
		t.Error("a link of the project was followed")
	}
}

// Sessions are stored in a project that a container mounts, unless the state folder is mounted, too.
func TestThrowAwayHome(t *testing.T) {
	const table = `22 1 0:21 / / rw,relatime - overlay overlay rw
23 22 0:22 / /proc rw - proc proc rw
30 22 8:1 /home/ann/shop /repo rw - ext4 /dev/sda1 rw
31 22 8:1 /home/ann/a\040b /srv/a\040b rw - ext4 /dev/sda1 rw
`
	for path, want := range map[string]string{
		"/repo": "/repo", "/repo/sub": "/repo", "/repos": "/", "/home/ann/.local/state": "/", "/srv/a b/c": "/srv/a b", "/proc/1": "/proc",
	} {
		if got := mountPoint(table, path); got != want {
			t.Errorf("%s is on %s, want %s", path, got, want)
		}
	}
}

// Listing is as quick in the state folder, and moving many sessions is quick.
func BenchmarkMove(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s, from := moveable(b, b.TempDir(), b.TempDir(), 1000)
		b.StartTimer()
		began := time.Now()
		if m, err := Move(s); m.Sessions != 1000 || err != nil {
			b.Fatalf("%v, %v, from %s", m, err, from)
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "µs/session")
	}
}
