package pane

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// leftBehind returns the background processes of a command that has just ended, even detached ones: this process has
// become the parent of each of them or of one of its ancestors. It omits the processes in before, which are older than
// the command, and the processes of group (0 for none), which will be ended anyway.
func (o *orphans) leftBehind(before map[int]bool, group int) (all []Left) {
	if len(o.tops(before)) == 0 {
		return nil
	}
	time.Sleep(leftSoon)
	for _, pid := range o.tops(before) {
		if groupOf(pid) != group {
			all = named(all, pid)
		}
	}
	return all
}

// present returns the pids of the current background processes.
func (o *orphans) present() map[int]bool {
	all := make(map[int]bool)
	for _, pid := range o.tops(nil) {
		all[pid] = true
	}
	return all
}

// tops returns the children that this process did not start, except those in the set before.
func (o *orphans) tops(before map[int]bool) (all []int) {
	if !adopts.Load() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	files, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is valid
	for _, file := range files {
		text, _ := os.ReadFile(file) // empty if the thread has ended
		for pid := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(pid); err == nil && !before[n] && !o.own[n] {
				all = append(all, n)
			}
		}
	}
	if len(all) > 0 && o.own == nil {
		started := startedHere()
		all = slices.DeleteFunc(all, func(pid int) bool { return started[pid] })
	}
	return all
}

// startedHere returns the processes that this process started with os/exec and has not waited for. Go holds a pidfd of
// each.
func startedHere() map[int]bool {
	all := make(map[int]bool)
	files, _ := filepath.Glob("/proc/self/fdinfo/*")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		_, rest, ok := strings.Cut(string(text), "\nPid:\t")
		line, _, _ := strings.Cut(rest, "\n")
		if pid, err := strconv.Atoi(line); ok && err == nil {
			all[pid] = true
		}
	}
	return all
}

// named adds a process and its descendants, if they run.
func named(all []Left, pid int) []Left {
	if len(all) >= leftMax {
		return all
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // proc_pid_stat(5): number (name) state …
	open, end := strings.IndexByte(string(stat), '('), strings.LastIndex(string(stat), ") ")
	if err != nil || open < 0 || end < open || len(stat) < end+3 || stat[end+2] == 'Z' {
		return all
	}
	all = append(all, Left{Pid: pid, Name: string(stat[open+1 : end])})
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			all = named(all, n)
		}
	}
	return all
}
