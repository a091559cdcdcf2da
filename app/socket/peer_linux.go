package socket

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel for the peer (SO_PEERCRED, man 7 unix).
func peerOf(conn *net.UnixConn) (peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, failed); err != nil {
		return peer{}, err
	}
	return peer{uid: int(cred.Uid), pid: int(cred.Pid)}, nil
}

// look reads a process from /proc (man 5 proc).
func look(pid int) (process, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return process{}, err
	}
	// The second field is the name in parentheses, which may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 5 {
		return process{}, fmt.Errorf("%s/stat has %d fields", dir, len(fields))
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return process{}, err
	}
	device, err := strconv.ParseUint(fields[4], 10, 32)
	if err != nil {
		return process{}, err
	}
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return process{}, err
	}
	return process{parent, strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"), terminalName(device)}, nil
}

// terminalName returns the name of a terminal by its device number, "" for 0, which is none.
func terminalName(device uint64) string {
	switch major, minor := unix.Major(device), unix.Minor(device); {
	case device == 0:
		return ""
	case major >= 136 && major <= 143: // Documentation/admin-guide/devices.txt of Linux
		return fmt.Sprintf("pts/%d", (major-136)<<20+minor)
	case major == 4 && minor < 64:
		return fmt.Sprintf("tty%d", minor)
	case major == 4:
		return fmt.Sprintf("ttyS%d", minor-64)
	default:
		return fmt.Sprintf("tty%d.%d", major, minor)
	}
}

// environ returns the environment that a process was started with, none if unreadable.
func environ(pid int) []string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\x00")
}
