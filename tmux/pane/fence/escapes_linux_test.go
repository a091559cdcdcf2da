//go:build linux && (amd64 || arm64)

package fence

import (
	"bytes"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"buddy/tmux/pane/canarytest"
)

//go:embed testdata/escapes.txt
var escapesText string

//go:embed testdata/world.sh
var worldScript string

// allLines names the variable that runs every line, as both users; with the value "more" also those of the read-only
// sandbox.
const allLines = "FENCE_TEST_ALL"

// asUser names the variable with which TestEscapes starts itself as a user.
const asUser = "FENCE_TEST_USER"

// TestEscapes runs lines without a sandbox, where each must change its canary, and in the fence, where none may: as
// root and as an ordinary user. A line that changes nothing without a sandbox does not count.
func TestEscapes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := Available(Settings{Work: []string{t.TempDir()}}, os.Environ()); err != nil {
		t.Skip(err)
	}
	if user := os.Getenv(asUser); user != "" {
		testEscapes(t, user)
		return
	}
	users := map[string]*syscall.Credential{"self": nil}
	if os.Getuid() == 0 {
		users["nobody"] = &syscall.Credential{Uid: canarytest.Nobody, Gid: canarytest.Nobody}
	}
	name := canarytest.CopyProgram(t)
	dir := filepath.Dir(name)
	more, _ := os.ReadFile("../confine/testdata/hostile.txt")
	if err := os.WriteFile(dir+"/more", more, 0o644); err != nil {
		t.Fatal(err)
	}
	for user, who := range users {
		t.Run(user, func(t *testing.T) {
			cmd := exec.Command(name, "-test.run=^TestEscapes$", "-test.v", "-test.timeout=60m")
			cmd.Dir = dir
			cmd.Env = []string{asUser + "=" + user, "SECRET=" + canarytest.SecretWord, "PATH=" + canarytest.Path, allLines + "=" + os.Getenv(allLines)}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("lines counted")) {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

func testEscapes(t *testing.T, user string) {
	everything := os.Getenv(allLines) != ""
	w := newWorld(t)
	own := canarytest.Lines(t, escapesText)
	all := own
	if more, err := os.ReadFile("more"); os.Getenv(allLines) == "more" && err == nil {
		all = append(slices.Clone(own), canarytest.Lines(t, string(more))...)
	}
	seen, held := fences(t, w) // with $OUT visible read-only, and without it
	counted, ownCounted := map[string]int{}, 0
	for i, e := range all {
		if !everything && (i%8 != 0 || user == "nobody" && i%16 != 0) || !w.Has(e) {
			continue
		}
		if i >= len(own) && (e.Canary == "secret" || e.Canary == "ran") {
			continue // it concerns the workspace, which the fence allows to read and run
		}
		if got := w.Plain(e, 5*time.Second); !slices.Contains(got, e.Canary) {
			if i < len(own) && !e.Maybe() {
				t.Errorf("%s: %s\nas it is changes %q: it proves nothing", e.Canary, e.Text, got)
			}
			continue
		}
		counted[e.Canary]++
		if i < len(own) {
			ownCounted++
		}
		f := held
		if e.Canary == "file" {
			f = seen
		}
		got := w.Run(e, 0, f.Environ(w.Env, nil), f.Start, func(cmd *exec.Cmd) {
			if err := f.Sweep(cmd.Process.Pid); err != nil {
				t.Errorf("%s: %v", e.Text, err)
			}
		})
		if e.Canary == "file" { // $OUT may be read then
			got = slices.DeleteFunc(got, func(c string) bool { return c == "secret" })
		}
		if slices.Contains(got, e.Canary) || len(got) > 0 && i < len(own) {
			t.Errorf("%s: %s\nin the fence (%s) changes %q", e.Canary, e.Text, user, got)
		}
	}
	if left := w.Remaining(); len(left) > 0 {
		t.Errorf("processes were left: %v", left)
	}
	t.Logf("%d of our own and %d in all lines counted: %v", ownCounted, sum(counted), counted)
	if want := 100; everything && ownCounted < want {
		t.Errorf("only %d lines could be tried on this machine, want %d", ownCounted, want)
	}
}

func sum(counted map[string]int) (n int) {
	for _, c := range counted {
		n += c
	}
	return n
}

func newWorld(t *testing.T) *canarytest.World {
	shm, err := os.CreateTemp("/dev/shm", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(shm.Name()) })
	_, err = shm.WriteString(canarytest.SecretWord + "\n")
	if err = errors.Join(err, shm.Close()); err != nil {
		t.Fatal(err)
	}
	return canarytest.New(t, canarytest.Options{Dir: "/var/tmp", Env: []string{"SHM=" + shm.Name()}, Script: worldScript})
}

// fences returns two fences; the first sees the folder outside of the workspace, read-only.
func fences(t *testing.T, w *canarytest.World) (seen, held *Fence) {
	make1 := func(env []string) *Fence {
		f, err := New(Config{Env: env, Temp: w.Temp, Settings: Settings{
			Work: []string{w.Workspace}, Hide: []string{w.Workspace + "/.buddyx", w.Workspace + "/keys/hidden"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Close)
		return f
	}
	return make1(append(slices.Clone(w.Env), "GOROOT="+w.Out)), make1(w.Env)
}
