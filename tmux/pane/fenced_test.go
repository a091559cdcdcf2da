package pane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"buddy/tmux/pane/fence"
	"buddy/tmux/tmuxtest"
)

// fencedShell is a shell whose commands can run in the workspace sandbox.
type fencedShell struct {
	*Shell
	t   testing.TB
	dir string // the workspace
	out string // a folder next to it
	n   int
}

func newFenced(t testing.TB, name string) *fencedShell {
	t.Helper()
	base := tmuxtest.Dir(t)
	f := &fencedShell{t: t, dir: filepath.Join(base, "work"), out: filepath.Join(base, "outside")}
	state := filepath.Join(base, "state")
	if err := errors.Join(os.Mkdir(state, 0o700), os.MkdirAll(filepath.Join(f.dir, "sub"), 0o700), os.Mkdir(f.out, 0o700), makePrivate(filepath.Join(state, "nowhere"))); err != nil {
		t.Fatal(err)
	}
	settings := fence.Settings{Work: []string{f.dir}, Cache: filepath.Join(base, "cache")}
	env := append(tmuxtest.Env(t, base), "OUT="+f.out)
	if err := fence.Available(settings, env); err != nil {
		t.Skip(err)
	}
	var err error
	if f.Shell, err = NewShell(state, nil, name); err != nil {
		t.Skip(err)
	}
	f.Greet(Greeting{Cwd: f.dir, Env: env, Fence: &settings})
	return f
}

func (f *fencedShell) start(command string, within Sandboxed) (*Command, string) {
	f.t.Helper()
	f.n++
	dir := filepath.Join(filepath.Dir(f.dir), fmt.Sprint("c", f.n))
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "cmd"), []byte(command), 0o600)); err != nil {
		f.t.Fatal(err)
	}
	c, err := f.Start(dir, Capture, within)
	if err != nil {
		f.t.Fatalf("%s: %v", command, err)
	}
	return c, dir
}

func (f *fencedShell) want(command string, within Sandboxed, want string) {
	f.t.Helper()
	c, dir := f.start(command, within)
	e := c.Exit()
	out, _ := os.ReadFile(filepath.Join(dir, "out"))
	errs, _ := os.ReadFile(filepath.Join(dir, "err"))
	if got := string(out) + string(errs); got != want || e.Fault != "" || e.Fenced != (within == Fenced) {
		f.t.Errorf("%s (%s) = %q (exit %d, %q, fenced %v), want %q", command, within, got, e.Code, e.Fault, e.Fenced, want)
	}
}

// TestStateOfFenced: variables are passed in, files of the workspace stay, and otherwise only the folder is carried
// over.
func TestStateOfFenced(t *testing.T) {
	for _, name := range []string{"bash", "dash"} {
		t.Run(name, func(t *testing.T) {
			f := newFenced(t, name)
			f.want("pwd; echo x >made", Fenced, f.dir+"\n")
			f.want("export A='a b'; cd sub", Unheld, "")
			f.want(`echo "$A"; A=changed; export NEW=1; ls() { echo evil; }; cd ..; echo t >/tmp/t`, Fenced, "a b\n")
			f.want(`echo "$A[$NEW]"; pwd; ls`, Unheld, "a b[]\n"+f.dir+"\nmade\nsub\n")
			f.want("cat /tmp/t; cd sub; exit 3", Fenced, "t\n")
			f.want("pwd", Unheld, f.dir+"/sub\n")
			c, _ := f.start("exit 3", Fenced)
			if e := c.Exit(); e.Code != 3 {
				t.Errorf("exit 3 = %+v", e)
			}
			c, _ = f.start("cd /; echo x 2>/dev/null >"+f.out+"/x", Fenced)
			if e := c.Exit(); e.Code == 0 || !strings.Contains(e.Fault, "a command in the sandbox cannot change to") {
				t.Errorf("a folder that is not there outside, and a file beside the workspace: %+v", e)
			}
		})
	}
}

// TestFencedEnds: a command's background processes end with it, and so does a cancelled one, which gets Ctrl-C first.
func TestFencedEnds(t *testing.T) {
	f := newFenced(t, "bash")
	mark := fmt.Sprint(3e8 + float64(os.Getpid()))
	left := func() string {
		out, _ := exec.Command("pgrep", "-f", "sleep "+mark).Output()
		return string(out)
	}
	f.want("setsid sleep "+mark+" >/dev/null 2>&1 & (setsid nohup sleep "+mark+" >/dev/null 2>&1 &); sleep 0.1", Fenced, "")
	if got := left(); got != "" {
		t.Errorf("still running: %s", got)
	}
	c, dir := f.start("trap 'echo bye; exit 9' INT; setsid sleep "+mark+" & echo on; while :; do sleep 0.05; done", Fenced)
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if b, _ := os.ReadFile(filepath.Join(dir, "out")); string(b) == "on\n" {
			break
		}
	}
	c.Cancel()
	e := c.Exit()
	if b, _ := os.ReadFile(filepath.Join(dir, "out")); !e.Cancelled || e.Code != 9 || string(b) != "on\nbye\n" {
		t.Errorf("ended as %+v with %q", e, b)
	}
	if got := left(); got != "" {
		t.Errorf("still running: %s", got)
	}
	c, _ = f.start("trap '' INT TERM; while :; do sleep 0.05; done", Fenced)
	c.signal(unix.SIGKILL)
	if e := c.Exit(); e.Code != 137 {
		t.Errorf("killed: %+v", e)
	}
}

// TestWhatASandboxEndsIsNamed: in both sandboxes, however the process was sent to the background.
func TestWhatASandboxEndsIsNamed(t *testing.T) {
	for _, shell := range []string{"bash", "dash"} {
		f := newFenced(t, shell)
		for _, within := range []Sandboxed{ReadOnly, Fenced} {
			for command, names := range map[string][]string{
				"sleep 1000 >/dev/null 2>&1 & sleep 0.2": {"sleep"}, "nohup sleep 1000 >/dev/null 2>&1 & sleep 1; exit 0": {"sleep"},
				"(setsid env -i /bin/sleep 1000 </dev/null >/dev/null 2>&1 &); sleep 1": {"sleep"}, "sleep 0 & wait": nil, "exit 0": nil,
			} {
				c, _ := f.start(command, within)
				if e := c.Exit(); !slices.Equal(e.Ended, names) || len(e.Left) > 0 || e.Fault != "" {
					t.Errorf("%s, %s, %s: %+v, want %q", shell, within, command, e, names)
				}
			}
		}
	}
}

// TestFencedOrNotAtAll: if the sandbox is impossible nothing runs, and a sandboxed command gets no terminal.
func TestFencedOrNotAtAll(t *testing.T) {
	f := newFenced(t, "bash")
	f.Greet(Greeting{Fence: &fence.Settings{Work: []string{"/"}}})
	dir := filepath.Join(filepath.Dir(f.dir), "c")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "cmd"), []byte("touch $OUT/ran"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Start(dir, Capture, Fenced); !errors.Is(err, fence.ErrImpossible) {
		t.Errorf("started: %v", err)
	}
	f.Greet(Greeting{})
	if _, err := f.Start(dir, Capture, Fenced); !errors.Is(err, fence.ErrImpossible) {
		t.Errorf("started without settings: %v", err)
	}
	if _, err := f.Start(dir, Terminal, Fenced); err == nil {
		t.Error("a terminal was given")
	}
	if exists, _ := filepath.Glob(f.out + "/*"); len(exists) > 0 {
		t.Error("it ran")
	}
}

func BenchmarkFenced(b *testing.B) {
	run := func(within Sandboxed, asks bool) func(*testing.B) {
		return func(b *testing.B) {
			f := newFenced(b, "bash")
			settings := *f.hold.fence
			settings.Asks = asks
			f.Greet(Greeting{Fence: &settings})
			for b.Loop() {
				c, _ := f.start(":", within)
				if e := c.Exit(); e.Code != 0 || e.Fault != "" {
					b.Fatal(e)
				}
			}
		}
	}
	for _, within := range []Sandboxed{Unheld, ReadOnly, Fenced} {
		b.Run(string(within), run(within, false))
	}
	b.Run("asking", run(Fenced, true)) // with access to the proxy
}
