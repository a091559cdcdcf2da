package socket

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The descriptors of a host that [Start] started.
const (
	listenerFD = 3
	orderFD    = 4
)

// maxOrder limits the order, in bytes, so that it can be written to the pipe before the host reads it.
const maxOrder = 60 << 10

// Start starts a host that serves a listener, in its own session, so that it survives the terminal. The order, which
// tells the host what to run, goes through a pipe, because other users can read command lines and environments. The
// host's errors go to the file said, which is overwritten. The listener is closed in this process, so that connections
// fail once the host ends.
func Start(exe string, args []string, l *net.UnixListener, said string, order []byte) (*os.Process, error) {
	defer l.Close() //nolint:errcheck // the host has its own copy
	file, err := l.File()
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // as above
	if len(order) > maxOrder {
		return nil, fmt.Errorf("the options have %d bytes, more than %d", len(order), maxOrder)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close() //nolint:errcheck // as above
	_, err = write.Write(order)
	if err = errors.Join(err, write.Close()); err != nil {
		return nil, err
	}
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
	cmd.ExtraFiles = []*os.File{file, read}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the session's process could not be started: %w", err)
	}
	go func() { _ = cmd.Wait() }() // avoids a zombie; the host's file has its errors
	return cmd.Process, nil
}

// keepDescriptors prevents the host from inheriting this process's open files. Otherwise a lock or a pipe of the shell
// that started buddy would stay open as long as the session.
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

// Inherited returns the listener and the order that [Start] passed to this process.
func Inherited() (l *net.UnixListener, order []byte, err error) {
	unix.CloseOnExec(listenerFD)
	unix.CloseOnExec(orderFD)
	if l, err = inheritedListener(); err != nil {
		return nil, nil, err
	}
	pipe := os.NewFile(orderFD, "order")
	defer pipe.Close() //nolint:errcheck // only read
	if order, err = io.ReadAll(io.LimitReader(pipe, maxOrder)); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the start order can't be read from descriptor %d: %w", orderFD, err), l.Close())
	}
	return l, order, nil
}

func inheritedListener() (*net.UnixListener, error) {
	file := os.NewFile(listenerFD, "listener")
	defer file.Close() //nolint:errcheck // net has its own copy
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d is not a listener; buddy starts this by itself: %w", listenerFD, err)
	}
	u, ok := l.(*net.UnixListener)
	if !ok {
		_ = l.Close()
		return nil, fmt.Errorf("descriptor %d is not a Unix socket; buddy starts this by itself", listenerFD)
	}
	u.SetUnlinkOnClose(false)
	return u, nil
}
