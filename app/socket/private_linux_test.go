package socket

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The helpers of TestPrivate are this program with one of these variables.
const (
	privateTest = "SOCKET_TEST_PRIVATE" // yes or no
	stealTest   = "SOCKET_TEST_STEAL"   // the number of a process
)

func init() {
	if which := os.Getenv(privateTest); which != "" {
		if which == "yes" {
			Private()
		}
		names, err := os.ReadDir("/proc/self/fd")
		exe, exeErr := os.Executable()
		maps, mapsErr := os.ReadFile("/proc/self/smaps")
		fmt.Println("ready", len(names) > 0 && err == nil, exe != "" && exeErr == nil, len(maps) > 0 && mapsErr == nil, exec.Command("/bin/true").Run() == nil)
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	if pid, err := strconv.Atoi(os.Getenv(stealTest)); err == nil {
		fmt.Print(steal(pid))
		os.Exit(0)
	}
}

// steal describes what a program can take from another one.
func steal(pid int) string {
	var got []string
	if f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid)); err == nil {
		_ = f.Close()
		got = append(got, "memory")
	}
	if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil {
		got = append(got, "environment")
	}
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		if _, err := unix.PidfdGetfd(fd, 0, 0); err == nil {
			got = append(got, "descriptors")
		}
	}
	return strings.Join(got, " ")
}

// TestPrivate: another program of the same user can take neither memory nor connections of a private process, which
// works as before. A process that is not private is the control.
func TestPrivate(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "buddy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	exe := filepath.Join(dir, "socket.test")
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, data, 0o755); err != nil { //nolint:gosec // another user runs it
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	program := func(variable string) *exec.Cmd {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), variable)
		if os.Getuid() == 0 { // root may do anything
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		return cmd
	}
	for _, private := range []string{"no", "yes"} {
		victim := program(privateTest + "=" + private)
		in, err := victim.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := victim.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready true true true true\n" {
			t.Errorf("private %s: of itself it says %q", private, line)
		}
		got, err := program(stealTest + "=" + strconv.Itoa(victim.Process.Pid)).Output()
		_ = in.Close()
		_ = victim.Wait()
		switch {
		case err != nil:
			t.Errorf("private %s: %v", private, err)
		case private == "no" && string(got) != "memory environment descriptors":
			t.Skipf("the system protects every process: only %q can be taken", got)
		case private == "yes" && string(got) != "":
			t.Errorf("of a private process, %q can be taken", got)
		}
	}
}
