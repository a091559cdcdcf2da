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

	"golang.org/x/sys/unix"
)

// adoption makes this process the parent of what confined commands leave behind, so that it
// can be found. Between commands it is not: other orphans are none of ours.
type adoption struct {
	mu       sync.Mutex // guards what follows
	commands int        // that were begun and are not swept yet
	running  map[int]bool
}

var adopt = adoption{running: map[int]bool{}}

// begin comes before the start of a command.
func (a *adoption) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.commands++; a.commands == 1 {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // it can't fail (man 2 prctl)
	}
}

func (a *adoption) started(pid int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[pid] = true
}

// end comes after the end of one and of what it left; pid is 0 if it did not start.
func (a *adoption) end(pid int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, pid)
	if a.commands--; a.commands == 0 {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	}
}

// sweepMax is how long it is tried to end what multiplies.
const sweepMax = 10 * time.Second

// Sweep ends what a command of the box has left behind, and empties its folder. It comes
// after the command's Wait. An error says what is left.
func (b *Box) Sweep(pid int) error {
	defer adopt.end(pid)
	adopt.mu.Lock()
	delete(adopt.running, pid)
	adopt.mu.Unlock()
	return errors.Join(endOrphans(), empty(b.temp))
}

// endOrphans kills confined processes that have come to this one, and what is below them,
// until there is none.
func endOrphans() error {
	for began := time.Now(); ; {
		if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); errors.Is(err, unix.ECHILD) {
			return nil // no child at all, as nearly always
		}
		left, ours := orphans()
		if len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for _, pid := range ours {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		if time.Since(began) > sweepMax {
			return fmt.Errorf("%d processes that the command left behind do not end", len(left))
		}
	}
}

// orphans are the confined processes that belong to no running command: all of them, and
// those that are children of this process.
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

// process is one that is confined.
type process struct{ parent int }

// processes are those with the marks of ours, which none can take off.
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

// empty removes what is in a folder.
func empty(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	return err
}
