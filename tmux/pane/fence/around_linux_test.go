//go:build linux && (amd64 || arm64)

package fence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// put writes files, each with its own name, and their folders.
func put(t testing.TB, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("is "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFenceHidesSecretsAroundTheWorkspace: in a folder of a repository the rest of the repository can be read, except
// files with secret names and the folders of agents. A new secret is hidden a second later.
func TestFenceHidesSecretsAroundTheWorkspace(t *testing.T) {
	repo := t.TempDir()
	secrets := []string{".env", "other/prod.tfvars", "other/.ssh/config", ".buddyx/sessions/x.jsonl", "other/deep/.agentx/main.go", "node_modules/x/.env", "linked.txt"}
	put(t, repo, secrets...)
	put(t, repo, ".git/HEAD", ".git/refs/heads/id_rsa", "private.txt", "other/credentials/main.go", "sub/.env", "sub/main.go")
	if err := os.Symlink("../linked.txt", repo+"/other/.env"); err != nil {
		t.Fatal(err)
	}
	work := repo + "/sub"
	f := newFence(t, Settings{Work: []string{work}})
	read := func(f *Fence, names ...string) (out string) {
		for _, name := range names {
			text, _ := run(t, f, work, "cat "+repo+"/"+name)
			out += text
		}
		return out
	}
	free := []string{".git/refs/heads/id_rsa", "private.txt", "other/credentials/main.go", "sub/.env"}
	if got, want := read(f, free...), "is "+strings.Join(free, "\nis ")+"\n"; got != want {
		t.Errorf("what is free reads\n%swant\n%s", got, want)
	}
	if got := read(f, secrets...); strings.Contains(got, "is ") {
		t.Errorf("what is secret can be read:\n%s", got)
	}
	if f.Reads(repo+"/.buddyx/sessions") || !f.Reads(repo+"/other") {
		t.Error("a command may change to a folder that is hidden, or not to one that is free")
	}

	put(t, repo, "other/new.pem")
	if got := read(f, "other/new.pem"); !strings.Contains(got, "is ") { // the control: hiding makes the difference
		t.Error("a file that came later can't be read")
	}
	f.around[0].looked = time.Now().Add(-lookAgain)
	if !f.Stale() {
		t.Fatal("a secret that came later changes nothing")
	}
	next, err := f.Renew(f.config)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if got := read(next, "other/new.pem"); strings.Contains(got, "is ") || next.around[0].Around != f.around[0].Around {
		t.Errorf("a secret that came later reads %q, or all was read again", got)
	}
	if err := os.Remove(repo + "/.env"); err != nil {
		t.Fatal(err)
	}
	if !next.Stale() {
		t.Error("the fence hides what is not there any more")
	}
}

// TestFenceSaysWhereToStart: if the secrets around the workspace can't all be hidden, no command is fenced.
func TestFenceSaysWhereToStart(t *testing.T) {
	repo := t.TempDir()
	put(t, repo, ".git/HEAD", "sub/main.go")
	newFence(t, Settings{Work: []string{repo + "/sub"}})
	for i := range secretsMax + 1 {
		put(t, repo, fmt.Sprint("keys/", i, ".pem"))
	}
	_, err := New(Config{Settings: Settings{Work: []string{repo + "/sub"}}, Env: os.Environ(), Temp: t.TempDir()})
	if !errors.Is(err, ErrImpossible) || !strings.Contains(err.Error(), "start buddy in that folder") || !strings.Contains(err.Error(), `"`+repo+`"`) {
		t.Errorf("with too many secrets around: %v", err)
	}
}
