package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ListenerFD is the descriptor of the listener in a host that [Start] started.
const ListenerFD = 3

// Start starts a host that serves a listener, in a session of its own, so that it outlives the
// terminal. Its errors go to the file named said, which is made anew. The listener is closed
// here: what connects to it from now on fails when the host ends.
func Start(exe string, args []string, l *net.UnixListener, said string) (*os.Process, error) {
	defer l.Close() //nolint:errcheck // the host has one of its own
	file, err := l.File()
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // as above
	if err := os.MkdirAll(filepath.Dir(said), 0o700); err != nil {
		return nil, err
	}
	stderr, err := os.OpenFile(said, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close() //nolint:errcheck // nothing is written here
	keepDescriptors()
	cmd := exec.Command(exe, args...) //nolint:gosec // buddy itself
	cmd.Stderr = stderr
	cmd.ExtraFiles = []*os.File{file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the process that runs the session could not be started: %w", err)
	}
	go func() { _ = cmd.Wait() }() // leaves no zombie; how it ended is in its file
	return cmd.Process, nil
}

// keepDescriptors keeps what this process was given from its host: a lock or a pipe of the
// starting shell would stay open as long as the session runs.
func keepDescriptors() {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		names, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, n := range names {
			if fd, err := strconv.Atoi(n.Name()); err == nil && fd > 2 {
				unix.CloseOnExec(fd)
			}
		}
		return
	}
}

// Inherited returns the listener that [Start] gave this process.
func Inherited() (*net.UnixListener, error) {
	unix.CloseOnExec(ListenerFD)
	file := os.NewFile(ListenerFD, "listener")
	if file == nil {
		return nil, errors.New("no listener was handed over")
	}
	defer file.Close() //nolint:errcheck // net has one of its own
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d is no listener; buddy starts this by itself: %w", ListenerFD, err)
	}
	u, ok := l.(*net.UnixListener)
	if !ok {
		_ = l.Close()
		return nil, fmt.Errorf("descriptor %d is no Unix socket; buddy starts this by itself", ListenerFD)
	}
	u.SetUnlinkOnClose(false)
	return u, nil
}
