//go:build linux && (amd64 || arm64)

package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// leftMax limits the named processes.
const leftMax = 20

// Left returns the names of the command's remaining processes. Call it after the command's Wait and before Sweep.
func (*Box) Left() (names []string) {
	if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); errors.Is(err, unix.ECHILD) {
		return nil // no child at all, which is the usual case
	}
	all, _ := orphans()
	for _, pid := range all[:min(len(all), leftMax)] {
		names = appendName(names, pid)
	}
	return names
}

// appendName adds the name of a process unless it is a zombie.
func appendName(names []string, pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // proc_pid_stat(5): number (name) state …
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndex(stat, []byte(") "))
	if err != nil || open < 0 || end < open || bytes.HasPrefix(stat[end+2:], []byte("Z")) {
		return names
	}
	return append(names, string(stat[open+1:end]))
}
