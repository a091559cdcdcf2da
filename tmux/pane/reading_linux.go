package pane

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLooked limits the processes of a group that are examined.
const maxLooked = 64

// readsTerminal reports whether a process of a group waits for terminal input. keys means that the terminal passes on
// each key at once, as for an editor. Processes of other users cannot be examined.
func readsTerminal(group int, keys bool) bool {
	remaining := maxLooked
	return anyReads(group, group, keys, &remaining)
}

// anyReads examines a process and its descendants in the group.
func anyReads(pid, group int, keys bool, remaining *int) bool {
	if *remaining--; *remaining < 0 {
		return false
	}
	if pid == group || groupOf(pid) == group {
		if reads(pid, keys) {
			return true
		}
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // none if unreadable
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil && anyReads(n, group, keys, remaining) {
			return true
		}
	}
	return false
}

// groupOf returns the process group of a process, 0 if it is gone.
func groupOf(pid int) int {
	group, err := unix.Getpgid(pid)
	if err != nil {
		return 0
	}
	return group
}

// reads reports whether a process waits in read(2) of a terminal, or in select(2) of its standard input alone, if that
// is a terminal. If keys is set, it may also wait for a terminal among other files, such as an editor's signals, but
// then only without a timeout, because a program that prompts waits without one. See proc_pid_syscall(5).
func reads(pid int, keys bool) bool {
	call, ok := callOf(pid)
	switch {
	case !ok:
		return false // it is running, not waiting
	case call.number == unix.SYS_READ:
		return isTerminal(pid, call.args[0])
	case call.number == unix.SYS_PSELECT6 && call.args[0] == 1:
		return isTerminal(pid, 0)
	case !keys || !call.endless():
		return false
	}
	files := call.files(pid)
	return slices.ContainsFunc(files, func(fd uint64) bool { return isTerminal(pid, fd) }) && !serves(pid, files)
}

// serves reports whether one of the files is a port on which the process listens. Such a process is a server: it may
// read keys, but does not depend on them.
func serves(pid int, files []uint64) bool {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false // it has ended
	}
	defer func() { _ = unix.Close(process) }()
	return slices.ContainsFunc(files, func(fd uint64) bool {
		if !strings.HasPrefix(fileOf(pid, fd), "socket:") {
			return false
		}
		copied, err := unix.PidfdGetfd(process, int(fd), 0)
		if err != nil {
			return false // older than Linux 5.6
		}
		defer func() { _ = unix.Close(copied) }()
		listens, err := unix.GetsockoptInt(copied, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		return err == nil && listens != 0
	})
}

// systemCall is a system call that a process waits in.
type systemCall struct {
	number int
	args   [6]uint64
}

func callOf(pid int) (c systemCall, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	if err != nil {
		return c, false
	}
	f := strings.Fields(string(text))
	if len(f) <= len(c.args) {
		return c, false // it is running, not waiting
	}
	if c.number, err = strconv.Atoi(f[0]); err != nil {
		return c, false
	}
	for i := range c.args {
		if c.args[i], err = strconv.ParseUint(strings.TrimPrefix(f[i+1], "0x"), 16, 64); err != nil {
			return c, false
		}
	}
	return c, true
}

// endless reports whether a call waits for files without a timeout.
func (c systemCall) endless() bool {
	switch kindOfWait(c.number) {
	case waitPoll:
		return int32(c.args[2]) < 0
	case waitPpoll:
		return c.args[2] == 0
	case waitSelect:
		return c.args[4] == 0
	case waitEpoll:
		return int32(c.args[3]) < 0
	}
	return false
}

// maxFiles limits the examined files of one call.
const maxFiles = 256

// files returns the descriptors that a call waits to read from.
func (c systemCall) files(pid int) []uint64 {
	switch kindOfWait(c.number) {
	case waitPoll, waitPpoll:
		return polled(memory(pid, c.args[0], 8*min(c.args[1], maxFiles)))
	case waitSelect:
		n := min(c.args[0], maxFiles)
		return selected(memory(pid, c.args[1], (n+63)/64*8), n)
	case waitEpoll:
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", pid, c.args[0]))
		return watched(string(text))
	}
	return nil
}

// polled reads elements of struct pollfd: int fd, short events, short revents.
func polled(b []byte) (all []uint64) {
	for ; len(b) >= 8; b = b[8:] {
		if fd := int32(binary.NativeEndian.Uint32(b)); fd >= 0 && binary.NativeEndian.Uint16(b[4:])&unix.POLLIN != 0 {
			all = append(all, uint64(fd))
		}
	}
	return all
}

// selected reads a set of n descriptors, with one bit for each.
func selected(b []byte, n uint64) (all []uint64) {
	for fd := uint64(0); fd < n && fd/8 < uint64(len(b)); fd++ {
		if b[fd/8]&(1<<(fd%8)) != 0 {
			all = append(all, fd)
		}
	}
	return all
}

// watched parses the descriptors of an epoll instance, see proc_pid_fdinfo(5).
func watched(text string) (all []uint64) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 4 || f[0] != "tfd:" || f[2] != "events:" {
			continue
		}
		fd, err := strconv.ParseUint(f[1], 10, 32)
		events, wrong := strconv.ParseUint(f[3], 16, 64)
		if err == nil && wrong == nil && events&unix.EPOLLIN != 0 {
			all = append(all, fd)
		}
	}
	return all
}

// memory returns bytes of a process's memory, none if it cannot be read.
func memory(pid int, at, size uint64) []byte {
	file, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	b := make([]byte, size)
	n, _ := file.ReadAt(b, int64(at))
	return b[:n]
}

// isTerminal reports whether a descriptor of a process is a terminal.
func isTerminal(pid int, fd uint64) bool {
	name := fileOf(pid, fd)
	return strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty")
}

// fileOf returns the file name of a process's descriptor, "" if unknown.
func fileOf(pid int, fd uint64) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)) // the descriptor may be closed
	return name
}

// wait is a kind of system call that waits for files.
type wait int

const (
	waitPoll wait = iota + 1
	waitPpoll
	waitSelect
	waitEpoll
)

// waits lists the calls that exist on all architectures.
var waits = map[int]wait{unix.SYS_PPOLL: waitPpoll, unix.SYS_PSELECT6: waitSelect, unix.SYS_EPOLL_PWAIT: waitEpoll}

// kindOfWait returns the kind of a call, 0 if it does not wait for files.
func kindOfWait(number int) wait { return cmp.Or(waits[number], olderWaits[number]) }
