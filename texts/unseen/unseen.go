// Package unseen remembers that files of a workspace have changed without approval: by a command in the workspace
// sandbox, or by a tool. The list of changes is shown when the user is asked to approve a command outside the
// sandbox, because that command could run a changed file.
//
//	place := unseen.Place{Dir: "/home/ann/.local/state/buddy/marks", Folders: []string{"/home/ann/shop"}}
//	end, err := place.Begin(true) // before the change; end() after it
//	marks, err := place.Marks()   // when the dialog opens
//	files, more := unseen.Changes(marks, time.Second)
//	unseen.Clear(marks) // once the user has approved
//
// A workspace with such changes has a mark: a file that all sessions and processes share, and that remains until the
// user approves a command while the list is shown. A mark starts with a line of JSON and grows with each change, so
// a mark that is larger than when it was read shows that files have changed since. A process that makes changes holds a shared lock on it; the kernel releases
// the lock when the process ends.
package unseen

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"buddy/texts"
)

// Place holds a workspace and the folder of its marks. The zero value records nothing.
type Place struct {
	Dir     string   // with the marks of all workspaces; "" for none
	Folders []string // of the workspace, absolute paths
}

// Mark records that a folder was changed without approval.
type Mark struct {
	Folder string // a real path
	Since  time.Time
	Auto   bool // changed by a command in the sandbox or a tool in auto mode; else by a tool in another mode

	file    string
	size    int64
	id      string // of the folder, whatever its name
	running bool   // a change was under way when the mark was read
}

// header is the first line of a mark.
type header struct {
	Folder string    `json:"folder"`
	ID     string    `json:"id,omitempty"`
	Since  time.Time `json:"since"`
}

// The bytes that are appended to a mark.
const (
	byAuto  = "A\n"
	byOther = "O\n"
)

// Begin marks the folders of the workspace before a change; auto is as in [Mark]. Approvals do not clear the marks
// before end is called or this process ends. After an error the caller must change nothing.
func (p Place) Begin(auto bool) (end func(), err error) {
	var held []*os.File
	end = func() {
		for _, f := range held {
			_ = f.Close()
		}
	}
	if p.Dir == "" {
		return end, nil
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the mark of a workspace: %w", err)
	}
	for _, folder := range p.Folders {
		f, err := begin(p.Dir, texts.RealPath(folder), auto)
		if err != nil {
			end()
			return nil, fmt.Errorf("the mark of the workspace %s: %w", folder, err)
		}
		held = append(held, f)
	}
	return end, nil
}

// begin marks one folder and returns the locked file.
func begin(dir, folder string, auto bool) (*os.File, error) {
	sum := sha256.Sum256([]byte(folder))
	name := filepath.Join(dir, hex.EncodeToString(sum[:]))
	for {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		if err = lock(f, unix.LOCK_SH); err == nil && is(f, name) {
			err = grow(f, folder, auto)
		} else if err == nil { // another process cleared it in between
			_ = f.Close()
			continue
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return f, nil
	}
}

// grow adds a change to a mark.
func grow(f *os.File, folder string, auto bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	text := byOther
	if auto {
		text = byAuto
	}
	if info.Size() == 0 {
		first, err := json.Marshal(header{folder, id(folder), time.Now()})
		if err != nil {
			return err
		}
		text = string(first) + "\n" + text
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if info.Size() == 0 {
		return f.Sync()
	}
	return nil
}

// Marks returns the marks of folders that are in the workspace or contain it. An unreadable mark counts as a mark.
func (p Place) Marks() ([]Mark, error) { return p.marks(true) }

// marks implements Marks. With probe it also detects changes under way, by trying to lock each mark. Two processes that
// try at the same moment take each other's lock for a change.
func (p Place) marks(probe bool) ([]Mark, error) {
	if p.Dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, folder := range p.Folders {
		folders = append(folders, texts.RealPath(folder))
	}
	var marks []Mark
	for _, e := range entries {
		m, ok, err := read(filepath.Join(p.Dir, e.Name()), probe)
		if err != nil {
			return nil, err
		}
		if ok && slices.ContainsFunc(folders, func(f string) bool {
			return texts.Below(f, m.Folder) || texts.Below(m.Folder, f) || m.id != "" && m.id == id(f)
		}) {
			marks = append(marks, m)
		}
	}
	return marks, nil
}

// Marked reports whether the workspace was changed without approval. Without inAuto, only marks with [Mark.Auto] count.
func (p Place) Marked(inAuto bool) bool {
	marks, err := p.marks(false)
	return err != nil || slices.ContainsFunc(marks, func(m Mark) bool { return inAuto || m.Auto })
}

// read reads a mark; ok is false if it does not exist, or nothing was changed yet.
func read(name string, probe bool) (m Mark, ok bool, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	defer func() { _ = f.Close() }()
	m.running = probe && lock(f, unix.LOCK_EX|unix.LOCK_NB) != nil // closing the file unlocks it
	text, err := os.ReadFile(name)
	if err != nil || len(text) == 0 {
		return m, false, err
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	var h header
	if err := json.Unmarshal(first, &h); err != nil {
		return m, false, fmt.Errorf("the mark %s: %w", name, err)
	}
	m.Folder, m.Since, m.file, m.size, m.id = h.Folder, h.Since, name, int64(len(text)), h.ID
	m.Auto = bytes.Contains(rest, []byte(byAuto))
	return m, true, nil
}

// Clear removes marks, except those with a change under way when they were read, or with a later change.
func Clear(marks []Mark) {
	for _, m := range marks {
		if !m.running {
			m.clear()
		}
	}
}

func (m Mark) clear() {
	f, err := os.Open(m.file)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if lock(f, unix.LOCK_EX|unix.LOCK_NB) != nil || !is(f, m.file) {
		return
	}
	if info, err := f.Stat(); err == nil && info.Size() == m.size {
		_ = os.Remove(m.file) // if this fails, the mark stays and causes another question
	}
}

// lock locks an open file until it is closed.
func lock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// is reports whether an open file still has its name.
func is(f *os.File, name string) bool {
	a, err := f.Stat()
	b, err2 := os.Stat(name)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// id identifies a folder that may be renamed or have several names; "" if it does not exist.
func id(folder string) string {
	var st unix.Stat_t
	if unix.Stat(folder, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}
