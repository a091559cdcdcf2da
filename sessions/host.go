package sessions

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Host is the process that runs a session for screens, and its socket. It is recorded in a note next to the session's
// file, because the folder of the socket depends on the environment. The note of a killed host remains.
type Host struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket"`
}

const hostExt = ".host"

// Hosts returns the recorded hosts of a store, by session.
func Hosts(s Store) map[string]Host {
	dir, err := os.Open(s.dir)
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // only read
	names, _ := dir.Readdirnames(-1)
	all := make(map[string]Host)
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, hostExt); ok && CheckID(id) == nil {
			all[id] = HostOf(s, id)
		}
	}
	return all
}

// HostOf returns the recorded host of a session, the zero Host if there is none.
func HostOf(s Store, id string) Host { return readHost(filepath.Join(s.dir, id+hostExt)) }

func readHost(path string) (h Host) {
	text, err := readSmall(path)
	if err != nil || json.Unmarshal([]byte(text), &h) != nil {
		return Host{}
	}
	return h
}

// HostNote is the locked note with a session's host, which others can't change until it is released.
type HostNote struct{ file *os.File }

// HoldHost locks the note with a session's host. If another process has locked the note, HoldHost waits for it or, if
// wait is false, returns an error.
func HoldHost(s Store, id string, wait bool) (*HostNote, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for path := filepath.Join(s.dir, id+hostExt); ; {
		f, err := OpenPlain(path, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), how); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		held, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if there, err := os.Lstat(path); err == nil && os.SameFile(held, there) {
			return &HostNote{f}, nil
		}
		_ = f.Close() // the previous holder has removed it
	}
}

// Read returns the recorded host, the zero Host if there is none.
func (n *HostNote) Read() Host { return readHost(n.file.Name()) }

// Write records a host.
func (n *HostNote) Write(h Host) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = n.file.WriteAt(text, 0)
	return errors.Join(err, n.file.Truncate(int64(len(text))))
}

// Release unlocks the note, and removes it if it is empty.
func (n *HostNote) Release() {
	if n.Read() == (Host{}) {
		_ = os.Remove(n.file.Name()) // a leftover file does no harm
	}
	_ = n.file.Close() // the data is written already
}

// Forget clears the note.
func (n *HostNote) Forget() { _ = n.file.Truncate(0) } // a leftover note names a process that has ended
