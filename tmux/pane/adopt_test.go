package pane

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"buddy/owners"
	"buddy/tmux/tmuxtest"
)

// newPlain returns a shell without a terminal and the folder for its commands.
func newPlain(t *testing.T) (s *Shell, base string) {
	t.Helper()
	base = tmuxtest.Dir(t)
	state := filepath.Join(base, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := NewShell(state, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	s.Greet(Greeting{Cwd: base, Env: tmuxtest.Env(t, base)})
	return s, base
}

// commandIn makes the folder of a command.
func commandIn(t *testing.T, dir, command string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "cmd"), []byte(command), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// as runs a command as an ordinary user.
func as(t *testing.T, uid uint32, line string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", line, err, out)
	}
}

// A command that another user substituted for ours does not run, whether as a file, a folder or a link.
func TestSwappedCommandsDoNotRun(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as a second account")
	}
	const other = 1 // an account that every system has
	for what, swap := range map[string]string{
		"file":             "cd $D && rm -f cmd && echo 'touch '$M > cmd",
		"folder":           "mv $D $D.old && mkdir $D && echo 'touch '$M > $D/cmd && touch $D/cwd",
		"link to a file":   "cd $D && rm -f cmd && echo 'touch '$M > other && ln -s other cmd",
		"link to a folder": "mv $D $D.old && mkdir $D.his && echo 'touch '$M > $D.his/cmd && ln -s $D.his $D",
		"fifo":             "cd $D && rm -f cmd && mkfifo cmd",
	} {
		t.Run(what, func(t *testing.T) {
			s, base := newPlain(t)
			his := filepath.Join(base, "his") // he may change its contents
			dir := commandIn(t, filepath.Join(his, "run"), "echo fine")
			mark := filepath.Join(base, "ran")
			if err := os.Chmod(base, 0o755); err != nil { // on the way to it
				t.Fatal(err)
			}
			if err := os.Chown(his, other, other); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(swap, "cd") { // the folder as well
				if err := os.Chown(dir, other, other); err != nil {
					t.Fatal(err)
				}
			}
			as(t, other, "D="+dir+"; M="+mark+"; "+swap)
			c, err := s.Start(dir, Capture, Unheld)
			if err == nil {
				t.Errorf("it started: %+v", c.Exit())
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("his command ran")
			}
		})
	}
}

// Files that every user may write are refused, and an ordinary one runs with the content that was read.
func TestCommandsAreReadOnce(t *testing.T) {
	s, base := newPlain(t)
	for what, prepare := range map[string]func(dir string) error{
		"open file":   func(dir string) error { return os.Chmod(dir+"/cmd", 0o666) },
		"open folder": func(dir string) error { return os.Chmod(dir, 0o777) },
	} {
		dir := commandIn(t, filepath.Join(base, what), "echo no")
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Start(dir, Capture, Unheld); !errors.Is(err, owners.ErrOther) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, name := range []string{"bash", "dash", "sh", "zsh"} {
		if _, err := FindShell(name); err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(base, "state-"+name)
			if err := os.Mkdir(state, 0o700); err != nil {
				t.Fatal(err)
			}
			s, err := NewShell(state, nil, name)
			if err != nil {
				t.Fatal(err)
			}
			s.Greet(Greeting{Cwd: base, Env: tmuxtest.Env(t, base)})
			dir := commandIn(t, filepath.Join(base, "run-"+name), "echo first\nsleep 0.3\necho second")
			c, err := s.Start(dir, Capture, Unheld)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "cmd"), []byte("echo swapped\necho swapped\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if e := c.Exit(); e.Code != 0 {
				t.Errorf("%+v", e)
			}
			if out, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(out) != "first\nsecond\n" {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

func TestSocketIsPrivate(t *testing.T) {
	dir := tmuxtest.Dir(t)
	l, err := listenPrivate(filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	info, err := os.Stat(filepath.Join(dir, "sock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A folder that another user could replace is not used for a supervisor: the next one is.
func TestSupervisorsAvoidOpenFolders(t *testing.T) {
	open, own := tmuxtest.Dir(t), tmuxtest.Dir(t)
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for base, want := range map[string]bool{open: false, own: true} {
		dir, err := MakeDir(func(name string) string {
			if name == "TMUX_TMPDIR" {
				return base
			}
			return ""
		}, "owner-test")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.HasPrefix(dir, base); got != want {
			t.Errorf("%s for %s", dir, base)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}
