package pane

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLooked limits the processes of a group that are looked at.
const maxLooked = 64

// readsTerminal reports whether a process of a group waits in a system call that reads a terminal. What another
// user's process does cannot be seen.
func readsTerminal(group int) bool {
	left := maxLooked
	return anyReads(group, group, &left)
}

// anyReads looks at a process and those that it started, as far as they are of the group.
func anyReads(pid, group int, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	if pid == group || groupOf(pid) == group {
		if reads(pid) {
			return true
		}
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // none can be seen
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil && anyReads(n, group, left) {
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

// reads reports whether a process waits in read(2) of a terminal, or in select(2) of its standard input alone,
// if that is one. See proc_pid_syscall(5).
func reads(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	if err != nil {
		return false
	}
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return false // it runs
	}
	number, err := strconv.Atoi(f[0])
	arg, wrong := strconv.ParseUint(strings.TrimPrefix(f[1], "0x"), 16, 64)
	switch {
	case err != nil || wrong != nil:
		return false
	case number == unix.SYS_READ:
		return isTerminal(pid, arg)
	case number == unix.SYS_PSELECT6:
		return arg == 1 && isTerminal(pid, 0)
	}
	return false
}

// isTerminal reports whether a descriptor of a process is a terminal.
func isTerminal(pid int, fd uint64) bool {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	return err == nil && (strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty"))
}
