package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// process holds the system's data about a process.
type process struct {
	group int
	start string // its start time; equal only for the same process
	ended bool   // a zombie
}

// boot identifies the boot, so that start times of different boots differ.
var boot = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// lookup returns a process; ok is false if it does not exist.
func lookup(pid int) (p process, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// The name in parentheses may hold spaces and parentheses; the later fields do not.
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(f) < 20 {
		return process{}, false
	}
	group, err := strconv.Atoi(f[2])
	return process{group: group, start: boot() + "/" + f[19], ended: f[0] == "Z" || f[0] == "X"}, err == nil
}

// members returns the processes of a group that have not ended.
func members(group int) []int {
	var pids []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if p, ok := lookup(pid); ok && p.group == group && !p.ended {
			pids = append(pids, pid)
		}
	}
	return pids
}

// leaderWith returns the group leader that was started with an environment variable (NAME=value); 0 if none was.
func leaderWith(variable string) int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if p, ok := lookup(pid); ok && p.group == pid && !p.ended && marked(pid, variable) {
			return pid
		}
	}
	return 0
}

// marked reports whether a process was started with an environment variable (NAME=value).
func marked(pid int, variable string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && slices.Contains(strings.Split(string(env), "\x00"), variable)
}

// resident returns the memory of a process, in bytes; 0 if it has ended.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	f := strings.Fields(string(text))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return 0, nil
	}
	if err != nil || len(f) < 2 {
		return 0, fmt.Errorf("the memory of process %d is not known: %w", pid, err)
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
