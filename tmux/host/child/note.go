package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// note is the content of a child's file. Because the system reuses pids, the start time is needed to recognize the
// process.
type note struct {
	Name       string `json:"name"`
	ID         string `json:"id"`   // value of marker in its environment
	Host       string `json:"host"` // the machine or container of the pids
	PID        int    `json:"pid"`  // 0: the child is about to be started
	Start      string `json:"start"`
	Owner      int    `json:"owner"`
	OwnerStart string `json:"owner_start"`
}

const noteSuffix = ".child.json"

// newNote returns the note of a child that this process is about to start.
func newNote(name, id string) (note, error) {
	owner, ok := lookup(os.Getpid())
	if !ok {
		return note{}, fmt.Errorf("process %d is not known to the system", os.Getpid())
	}
	host, err := os.Hostname()
	return note{Name: name, ID: id, Host: host, Owner: os.Getpid(), OwnerStart: owner.start}, err
}

// write writes the note into a folder and returns its file.
func (n note) write(dir string) (string, error) {
	text, err := json.Marshal(n)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(dir, n.ID+noteSuffix)
	part := file + ".part" // no sync: no child survives a crash of the machine
	if err := os.WriteFile(part, text, 0o600); err != nil {
		return "", err
	}
	return file, os.Rename(part, file)
}

// recordPID adds the child's process to the note.
func (n note) recordPID(dir string, pid int) (err error) {
	child, ok := lookup(pid)
	if !ok {
		return fmt.Errorf("process %d is not known to the system", pid)
	}
	n.PID, n.Start = pid, child.start
	_, err = n.write(dir)
	return err
}

// Sweep ends the children that have a note in the folder state and whose owner is dead, along with their process
// groups. It removes their notes. It leaves alone the children of a living owner, and processes that reuse a child's
// pid. Sweep returns the number of ended groups, and the errors of unreadable notes. It takes up to 4 seconds if a
// process ignores TERM.
func Sweep(state string) (ended int, err error) {
	files, err := os.ReadDir(state)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	host, err := os.Hostname()
	if err != nil {
		return 0, err
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var problems []error
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), noteSuffix) {
			continue
		}
		all.Go(func() {
			did, err := sweep(filepath.Join(state, f.Name()), host)
			mu.Lock()
			defer mu.Unlock()
			if did {
				ended++
			}
			problems = append(problems, err)
		})
	}
	all.Wait()
	return ended, errors.Join(problems...)
}

// sweep ends the child of one note if its owner is dead, and reports whether it did.
func sweep(file, host string) (ended bool, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // the owner has removed it meanwhile
	}
	if err != nil {
		return false, err
	}
	var n note
	if err := json.Unmarshal(text, &n); err != nil || !n.valid() {
		_ = os.Remove(file)
		return false, fmt.Errorf("%s does not identify a child process: removed", file)
	}
	if n.Host != host {
		return false, nil // the folder is shared by several machines
	}
	if owner, ok := lookup(n.Owner); ok && owner.start == n.OwnerStart && !owner.ended {
		return false, nil
	}
	if n.PID == 0 { // the owner was killed while it started the child
		n.PID = leaderWith(marker + "=" + n.ID)
		child, _ := lookup(n.PID)
		n.Start = child.start
	}
	if n.running() {
		ended = true
		n.end()
	}
	if !n.running() {
		_ = os.Remove(file)
	}
	return ended, nil
}

// valid reports whether the note identifies the owner and the child. The child is identified by its pid or, before it
// has one, by the ID in its environment.
func (n note) valid() bool {
	return (n.PID > 1 || n.PID == 0 && n.ID != "") && n.Owner > 1
}

// running reports whether a process of the child's group is still running. If another process leads the group, the
// system has reused the group's number, and the group is not the child's.
func (n note) running() bool {
	if n.PID == 0 {
		return false
	}
	if leader, ok := lookup(n.PID); ok && leader.start != n.Start {
		return false
	}
	for _, pid := range members(n.PID) {
		if pid == n.PID || marked(pid, marker+"="+n.ID) {
			return true
		}
	}
	return false
}

// end sends TERM to the group, then KILL.
func (n note) end() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(-n.PID, signal)
		for late := time.Now().Add(stepTime); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
			if !n.running() {
				return
			}
		}
	}
}
