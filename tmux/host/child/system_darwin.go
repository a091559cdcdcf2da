package child

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process holds the system's data about a process.
type process struct {
	group int
	start string // its start time; equal only for the same process
	ended bool   // a zombie
}

// zombie is the state of a process that has exited: SZOMB of sys/proc.h.
const zombie = 5

// lookup returns a process; ok is false if it does not exist.
func lookup(pid int) (p process, ok bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}, false
	}
	start := fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec)
	return process{group: int(k.Eproc.Pgid), start: start, ended: k.Proc.P_stat == zombie}, true
}

// members returns the processes of a group that have not ended.
func members(group int) []int {
	var pids []int
	all, _ := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	for _, k := range all {
		if k.Proc.P_stat != zombie {
			pids = append(pids, int(k.Proc.P_pid))
		}
	}
	return pids
}

// leaderWith returns the group leader that was started with an environment variable (NAME=value); 0 if none was.
func leaderWith(variable string) int {
	all, _ := unix.SysctlKinfoProcSlice("kern.proc.all")
	for _, k := range all {
		if pid := int(k.Proc.P_pid); int(k.Eproc.Pgid) == pid && k.Proc.P_stat != zombie && marked(pid, variable) {
			return pid
		}
	}
	return 0
}

// marked reports whether a process was started with an environment variable (NAME=value). It returns false for programs
// that belong to macOS, because the system hides their environment.
func marked(pid int, variable string) bool {
	text, err := unix.SysctlRaw("kern.procargs2", pid)
	return err == nil && slices.Contains(strings.Split(string(text), "\x00"), variable)
}

// resident returns the memory of a process, in bytes; 0 if it has ended. resident asks ps, because macOS shows the
// memory only to programs linked with its C library.
func resident(pid int) (int64, error) {
	out, err := exec.Command("/bin/ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	text := strings.TrimSpace(string(out))
	if text == "" {
		if _, ok := errors.AsType[*exec.ExitError](err); ok { // the process does not exist
			return 0, nil
		}
		return 0, err
	}
	const kib = 1024
	n, err := strconv.ParseInt(text, 10, 64)
	return n * kib, err
}
