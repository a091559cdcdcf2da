// Package tmuxtest starts a separate tmux server for each test, which ends with the test.
//
//	srv := tmuxtest.New(t) // skips the test where tmux is missing
//	s := tmux.New(tmux.Options{Socket: srv.Socket, Greeting: pane.Greeting{Env: srv.Env}, …})
//	srv.Tmux("send-keys", "-t", s.Pane(), "C-c")
//	tmuxtest.Until(t, "the prompt is there", func() bool { … })
package tmuxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Server is the address of a private tmux server, not started yet.
type Server struct {
	Socket string   // path for -S
	Dir    string   // a short private directory of the test's own
	Env    []string // see Env
	t      testing.TB
}

// New returns a server for the test and kills it at the test's end.
func New(t testing.TB) *Server {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	return In(t, Dir(t))
}

// In is like New for an existing directory of the test.
func In(t testing.TB, dir string) *Server {
	t.Helper()
	s := &Server{Socket: filepath.Join(dir, "sock"), Dir: dir, Env: Env(t, dir), t: t}
	t.Cleanup(func() { _ = s.command("kill-server").Run() })
	return s
}

// Dir returns a directory with a path short enough for sockets; it is removed at the end.
func Dir(t testing.TB) string {
	t.Helper()
	base := os.TempDir()
	if len(base) > 20 {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "bt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the server's last processes may be removing files as well
		Until(t, dir+" is removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}

// Env returns this process's environment, without references to a surrounding tmux. Sockets and states are in dir, and
// so is an empty home, so that start-up files of the user's shells, which may wait for a lock, do not affect the test.
func Env(t testing.TB, dir string) []string {
	t.Helper()
	home := Home(t, dir)
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "TMUX", "TMUX_PANE", "TMUX_TMPDIR", "BASH_ENV", "HOME":
		default:
			env = append(env, kv)
		}
	}
	return append(env, "TMUX_TMPDIR="+dir, "HOME="+home)
}

// Home returns the folder "empty-home" in dir, which it makes if it is missing.
func Home(t testing.TB, dir string) string {
	t.Helper()
	home := filepath.Join(dir, "empty-home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return home
}

func (s *Server) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.Socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = s.Env
	return cmd
}

// Tmux runs a tmux command on the server and returns what it prints, without the last
// newline. A failure is fatal.
func (s *Server) Tmux(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Attach attaches a client to a session, as the user would, until the returned function is called.
func (s *Server) Attach(session string) (detach func()) {
	s.t.Helper()
	cmd := s.command("-C", "attach", "-t", "="+session)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
}

// Until polls until cond returns true, and fails the test after a minute, which is enough for a busy machine.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}
