package socket

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain makes this program act as a command that dials, or as a supervisor that runs one.
func TestMain(m *testing.M) {
	path := os.Getenv("SOCKET_TEST_DIAL")
	switch {
	case path == "":
		os.Exit(m.Run())
	case len(os.Args) > 1:
		cmd := exec.Command(os.Args[0]) //nolint:gosec // itself
		cmd.Stdout = os.Stdout
		if err := cmd.Run(); err != nil {
			os.Exit(1)
		}
	default:
		_, _ = os.Stdout.WriteString(dialed(path))
	}
	os.Exit(0)
}

// dialed describes the result of a connection.
func dialed(path string) string {
	c, err := Dial(path, Screen{Version: "1"})
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	hello, err := c.Hello(context.Background())
	if err != nil {
		return err.Error()
	}
	return "has " + hello.Session
}

// lookedUp returns a fake process lookup.
func lookedUp(all map[int]process) func(int) (process, error) {
	return func(pid int) (process, error) {
		p, ok := all[pid]
		if !ok {
			return process{}, os.ErrNotExist
		}
		return p, nil
	}
}

// TestWhatBuddyRunsIsRefused: descendants of a host, a supervisor or their tmux server are refused; others get their
// terminal.
func TestWhatBuddyRunsIsRefused(t *testing.T) {
	const tmux = 5
	for _, tt := range []struct {
		name     string
		look     map[int]process
		terminal string
		want     error
	}{
		{"a shell", map[int]process{30: {20, []string{"buddy"}, ""}, 20: {1, []string{"-bash"}, "pts/3"}}, "pts/3", nil},
		{"the nearest terminal", map[int]process{30: {20, []string{"buddy"}, "pts/4"}, 20: {1, []string{"-bash"}, "pts/3"}, 1: {0, []string{"init"}, "tty1"}}, "pts/4", nil},
		{"a job of cron", map[int]process{30: {20, []string{"buddy"}, ""}, 20: {1, []string{"cron"}, ""}, 1: {0, []string{"init"}, ""}}, "", nil},
		{"the first process of a container", map[int]process{30: {1, []string{"buddy"}, ""}, 1: {0, []string{"bash"}, "pts/0"}}, "pts/0", nil},
		{"below the host", map[int]process{30: {20, []string{"curl"}, "pts/3"}, 20: {10, []string{"sh"}, ""}, 10: {1, nil, ""}}, "", errStartedByBuddy},
		{"below a supervisor", map[int]process{30: {20, []string{"make"}, "pts/3"}, 20: {4, []string{"/x/socket.test", "pane", "x"}, ""}, 4: {1, []string{"tmux"}, ""}}, "", errStartedByBuddy},
		{"below another host", map[int]process{30: {20, []string{"make"}, "pts/3"}, 20: {1, []string{"socket.test", "host"}, ""}}, "", errStartedByBuddy},
		{"below a host of another name", map[int]process{30: {20, []string{"make"}, "pts/3"}, 20: {1, []string{"buddy-2", "host", "--of=/x"}, ""}}, "", errStartedByBuddy},
		{"below a host that is the first process", map[int]process{30: {1, []string{"make"}, "pts/3"}, 1: {0, []string{"socket.test", "host"}, ""}}, "", errStartedByBuddy},
		{"in the tmux server of supervisors", map[int]process{30: {20, []string{"buddy"}, "pts/3"}, 20: {tmux, []string{"-bash"}, "pts/3"}, tmux: {1, []string{"tmux"}, ""}}, "", errOwnTmux},
		{"in a tmux server of the person", map[int]process{30: {20, []string{"buddy"}, "pts/3"}, 20: {6, []string{"-bash"}, "pts/3"}, 6: {1, []string{"tmux"}, ""}}, "pts/3", nil},
		{"somebody's pane", map[int]process{30: {20, []string{"make"}, "pts/3"}, 20: {1, []string{"/usr/bin/vim", "pane"}, ""}}, "pts/3", nil},
	} {
		s := Server{host: 10, Tmux: func() []int { return []int{tmux} }, look: lookedUp(tt.look)}
		terminal, err := s.origin(30)
		if terminal != tt.terminal || !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("%s: %q, %v", tt.name, terminal, err)
		}
	}
	for _, pid := range []int{30, 0} {
		s := Server{look: lookedUp(nil)}
		if _, err := s.origin(pid); err == nil {
			t.Errorf("process %d, of which nothing is known, was let in", pid)
		}
	}
}

// TestWithin: a process belongs to the session whose host, supervisor, hook or server it descends from, if the folders
// match.
func TestWithin(t *testing.T) {
	own := []string{"/home/ann/.local/state/buddy", "/home/ann/.config/buddy"}
	hook := []string{"BUDDY_CHILD=x", "HOME=/home/ann"}
	for _, tt := range []struct {
		name string
		args []string // of an ancestor
		env  []string
		want error
	}{
		{"a shell", []string{"-bash"}, []string{"HOME=/home/ann"}, nil},
		{"a screen", []string{"buddy", "attach"}, []string{"HOME=/home/ann"}, nil},
		{"a supervisor", []string{"buddy", "pane", "--of=" + own[0], "--of=" + own[1], "/tmp/x"}, nil, errWithin},
		{"a host", []string{"buddy", "host", "--of=" + own[0], "--of=" + own[1]}, nil, errWithin},
		{"the same settings, another state", []string{"buddy", "host", "--of=/tmp/state/buddy", "--of=" + own[1]}, nil, errWithin},
		{"another session's", []string{"buddy", "pane", "--of=/tmp/state/buddy", "--of=/tmp/config/buddy", "/tmp/x"}, nil, nil},
		{"a hook", []string{"./hook"}, hook, errWithin},
		{"a hook of another session", []string{"./hook"}, append(hook, "XDG_STATE_HOME=/tmp/state", "XDG_CONFIG_HOME=/tmp/config"), nil},
	} {
		look := lookedUp(map[int]process{30: {20, []string{"buddy", "trust"}, ""}, 20: {10, []string{"make"}, ""}, 10: {1, tt.args, ""}, 1: {0, nil, ""}})
		err := within(30, own, look, func(pid int) []string { return map[int][]string{10: tt.env}[pid] })
		if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("below %s: %v", tt.name, err)
		}
	}
}

// TestCommandsAreRefused with real processes: one below a supervisor, and the same one without as a control.
func TestCommandsAreRefused(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
		host int
		want string
	}{
		{"a screen", nil, -1, "has 7f3a"},
		{"a supervisor's command", []string{"pane"}, -1, errStartedByBuddy.Error()},
		{"a command of the host's own", nil, os.Getpid(), errStartedByBuddy.Error()},
	} {
		h := listenAs(t, tt.host)
		cmd := exec.Command(exe, tt.args...) //nolint:gosec // itself
		cmd.Env = append(os.Environ(), "SOCKET_TEST_DIAL="+h.path)
		if out, err := cmd.Output(); err != nil || string(out) != tt.want {
			t.Errorf("%s: %s, %v", tt.name, out, err)
		}
	}
}

// TestOtherUsersAreRefused needs root, to act as another user.
func TestOtherUsersAreRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	h := listen(t)
	for _, path := range []string{filepath.Dir(h.path), h.path} {
		if err := os.Chmod(path, 0o777); err != nil { //nolint:gosec // so that the folder does not refuse
			t.Fatal(err)
		}
	}
	exe := filepath.Join(filepath.Dir(h.path), "socket.test")
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(exe, data, 0o755); err != nil { //nolint:gosec // the other user runs it
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "SOCKET_TEST_DIAL="+h.path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "not to user 65534") && !strings.Contains(string(out), "user 0 is on the other side") {
		t.Errorf("%s, %v", out, err)
	}
}
