//go:build amd64 || arm64

package try

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/tmux/pane/canarytest"
	"buddy/tmux/pane/fence"
)

func nobody() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: canarytest.Nobody, Gid: canarytest.Nobody}}
}

// escapesIn names the variable with the corpora for TestEscapes as an ordinary user.
const escapesIn = "TRY_TEST_ESCAPES"

// allLines names the variable that runs every line, and the long forms of other tests.
const allLines = "TRY_TEST_ALL"

// TestEscapes runs lines without a sandbox, where each must change its canary, and as tries, where none may change
// anything: as root and as an ordinary user. The workspace is a canary too.
func TestEscapes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	newPlace(t, t.TempDir())
	if dir := os.Getenv(escapesIn); dir != "" {
		testEscapes(t, dir)
		return
	}
	testEscapes(t, "../fence/testdata")
	if os.Getuid() != 0 {
		return
	}
	dir, err := os.MkdirTemp("/tmp", "try")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // another user reads it
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS("../fence/testdata")); err != nil {
		t.Fatal(err)
	}
	out, err := asNobody(t, "-test.run=^TestEscapes$", escapesIn+"="+dir, allLines+"="+os.Getenv(allLines))
	if err != nil || !strings.Contains(string(out), "lines counted") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("as an ordinary user:\n%s", out)
}

func testEscapes(t *testing.T, dir string) {
	corpus, err := os.ReadFile(dir + "/escapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(dir + "/world.sh")
	if err != nil {
		t.Fatal(err)
	}
	shm, err := os.CreateTemp("/dev/shm", "k")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(shm.Name()) }()
	if _, err := shm.WriteString(canarytest.SecretWord + "\n"); err != nil {
		t.Fatal(err)
	}
	w := canarytest.New(t, canarytest.Options{Dir: "/var/tmp", Env: []string{"SHM=" + shm.Name()}, Script: string(script), SeesWorkspace: true})
	layers := w.Base + "/layers"
	if err := os.Mkdir(layers, 0o700); err != nil {
		t.Fatal(err)
	}
	counted := map[string]int{}
	for i, e := range append(inWorkspace, canarytest.Lines(t, string(corpus))...) {
		if os.Getenv(allLines) == "" && i >= len(inWorkspace) && i%8 != 0 || !w.Has(e) {
			continue
		}
		if got := w.Plain(e, 5*time.Second); !slices.Contains(got, e.Canary) {
			continue
		}
		counted[e.Canary]++
		c := Config{Layers: layers, Fence: fence.Config{Env: w.Env, Temp: w.Temp, Settings: fence.Settings{
			Work: []string{w.Workspace}, Hide: []string{w.Workspace + "/.buddyx", w.Workspace + "/keys/hidden"},
		}}}
		if e.Canary == "file" {
			c.Fence.Env = append(slices.Clone(w.Env), "GOROOT="+w.Out) // $OUT may be read then
		}
		trial, err := prepare(c)
		if err != nil {
			t.Fatal(err)
		}
		got := w.Run(e, 0, trial.environ(c, Command{Dir: w.Workspace}), trial.start, func(cmd *exec.Cmd) {
			if err := trial.fence.Sweep(cmd.Process.Pid); err != nil {
				t.Errorf("%s: %v", e.Text, err)
			}
		})
		trial.close()
		if err := Discard(trial.layer); err != nil {
			t.Errorf("%s: %v", e.Text, err)
		}
		if e.Canary == "file" {
			got = slices.DeleteFunc(got, func(c string) bool { return c == "secret" })
		}
		if len(got) > 0 {
			t.Errorf("%s: %s\nas a try changes %q\n%s", e.Canary, e.Text, got, w.Said())
		}
	}
	if left := w.Remaining(); len(left) > 0 {
		t.Errorf("processes were left: %v", left)
	}
	total := 0
	for _, n := range counted {
		total += n
	}
	t.Logf("%d lines counted: %v", total, counted)
	if total < 15 {
		t.Errorf("only %d lines could be tried", total)
	}
}

// inWorkspace are lines that change the workspace itself, which the fence allows.
var inWorkspace = []canarytest.Line{
	{Canary: "file", Text: "echo x >new"},
	{Canary: "file", Text: "rm -rf -- *"},
	{Canary: "file", Text: "chmod 700 .; chmod 755 ."},
	{Canary: "file", Text: "for f in *; do echo x >>$f; done"},
	{Canary: "file", Text: "mkdir m && touch -d 2001-01-01 ."},
	{Canary: "file", Text: "ln -s x y; mkfifo z"},
	{Canary: "file", Needs: []string{"setfattr"}, Text: "setfattr -n user.x -v y ."},
	{Canary: "file", Needs: []string{"userns", "unshare"}, Text: `unshare -Urm sh -c 'umount -l "$WS"; cd "$WS" && echo x >new' || echo x >new`},
	{Canary: "file", Needs: []string{"unshare"}, Text: `umount -l "$WS" || umount "$WS"; mount --bind / /mnt; cd "$WS" && echo x >new`},
}
