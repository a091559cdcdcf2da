//go:build linux && (amd64 || arm64)

package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adoption makes this process the parent of the orphans of confined commands, so that they can be found. Unless
// adoption was already on for another reason, it is off between commands, so that no other orphans are adopted.
type adoption struct {
	mu       sync.Mutex // guards the fields below
	commands int        // started and not swept yet
	running  map[int]bool
	before   bool // this process was their parent before
}

var adopt = adoption{running: map[int]bool{}}

// prepare must be called before the start of a command.
func (a *adoption) prepare() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.commands++; a.commands == 1 {
		a.before = adopts()
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // it can't fail (man 2 prctl)
	}
}

func (a *adoption) started(pid int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[pid] = true
}

// end must be called when a command and its remaining processes have ended; pid is 0 if the command did not start.
func (a *adoption) end(pid int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, pid)
	if a.commands--; a.commands == 0 && !a.before {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	}
}

// adopts reports whether this process is the parent of orphans below it.
func adopts() bool {
	var on int32
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0)
	return err == nil && on != 0
}

// sweepMax limits the time for ending processes that multiply.
const sweepMax = 10 * time.Second

// Sweep ends a command's remaining processes, and empties its folder. Call it after the command's Wait. The error
// reports processes that did not end.
func (b *Box) Sweep(pid int) error {
	defer adopt.end(pid)
	adopt.mu.Lock()
	delete(adopt.running, pid)
	adopt.mu.Unlock()
	return errors.Join(endOrphans(), empty(b.config.Temp))
}

// Group returns the process group that receives a command's signals: its own.
func (*Box) Group(pid int) int { return pid }

// looks is the number of consecutive scans of the process list that must find no process. One is not enough: a scan
// misses a process that is forked during the scan by a process that ends at that moment.
const looks = 3

// endOrphans kills the confined processes that became children of this one, and their descendants, until there are
// none.
func endOrphans() error {
	none := 0
	for began := time.Now(); ; {
		if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); errors.Is(err, unix.ECHILD) {
			return nil // no child at all, which is the usual case
		}
		remaining, ours := orphans()
		if none++; len(remaining) > 0 {
			none = 0
		} else if none == looks {
			return nil
		}
		for _, pid := range remaining {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for _, pid := range ours {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		if len(remaining) > 0 && time.Since(began) > sweepMax {
			return fmt.Errorf("%d processes that the command left behind do not end", len(remaining))
		}
	}
}

// orphans returns the confined processes that belong to no running command, and those of them
// that are children of this process.
func orphans() (all, ours []int) {
	adopt.mu.Lock()
	defer adopt.mu.Unlock()
	procs := processes()
	self := os.Getpid()
	for pid, p := range procs {
		top, of := pid, p
		for of.parent != self && procs[of.parent] != nil && !adopt.running[top] {
			top, of = of.parent, procs[of.parent]
		}
		if of.parent != self || adopt.running[top] {
			continue
		}
		all = append(all, pid)
		if p.parent == self {
			ours = append(ours, pid)
		}
	}
	return all, ours
}

type process struct{ parent int }

// processes returns the processes that carry the marks of confined commands, which no process can remove.
func processes() map[int]*process {
	all := map[int]*process{}
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte("\nNoNewPrivs:\t1\nSeccomp:\t2\n")) {
			continue // a zombie has these lines, too
		}
		var size unix.Rlimit
		if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &size); err != nil || size.Max > fileMax {
			continue
		}
		_, rest, _ := bytes.Cut(text, []byte("\nPPid:\t"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if parent, err := strconv.Atoi(string(line)); err == nil {
			all[pid] = &process{parent}
		}
	}
	return all
}
