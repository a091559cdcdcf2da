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

// TestMain lets this program be a command that dials, and a supervisor that runs one.
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

// dialed says what became of a connection.
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

// TestWhatBuddyRunsIsRefused: who descends from a host or a supervisor.
func TestWhatBuddyRunsIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		pid  int
		look map[int]process
		want error
	}{
		{"a shell", 30, map[int]process{30: {20, []string{"buddy"}}, 20: {1, []string{"-bash"}}}, nil},
		{"below the host", 30, map[int]process{30: {20, []string{"curl"}}, 20: {10, []string{"sh"}}, 10: {1, nil}}, errStartedByBuddy},
		{"below a supervisor", 30, map[int]process{30: {20, []string{"make"}}, 20: {5, []string{"/x/socket.test", "pane", "x"}}, 5: {1, []string{"tmux"}}}, errStartedByBuddy},
		{"below another host", 30, map[int]process{30: {20, []string{"make"}}, 20: {1, []string{"socket.test", "host"}}}, errStartedByBuddy},
		{"somebody's pane", 30, map[int]process{30: {20, []string{"make"}}, 20: {1, []string{"/usr/bin/vim", "pane"}}}, nil},
	} {
		err := checkAncestors(tt.pid, 10, func(pid int) (process, error) {
			p, ok := tt.look[pid]
			if !ok {
				return process{}, os.ErrNotExist
			}
			return p, nil
		})
		if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, pid := range []int{30, 0} {
		if err := checkAncestors(pid, 10, func(int) (process, error) { return process{}, os.ErrPermission }); err == nil {
			t.Errorf("process %d, of which nothing is known, was let in", pid)
		}
	}
}

// TestCommandsAreRefused with real processes: one below a supervisor, and, as a control, the
// same one beside it.
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

// TestOtherUsersAreRefused needs root, to be somebody else.
func TestOtherUsersAreRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	h := listen(t)
	for _, path := range []string{filepath.Dir(h.path), h.path} {
		if err := os.Chmod(path, 0o777); err != nil { //nolint:gosec // so that the folder is not what refuses
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
	if err != nil || !strings.Contains(string(out), "not user 65534") && !strings.Contains(string(out), "user 0 is on the other side") {
		t.Errorf("%s, %v", out, err)
	}
}
