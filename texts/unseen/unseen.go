// Package unseen remembers, in the state folder, that files of a workspace were changed without asking: by a command in
// the workspace fence, or by a tool. The mark stays until a person has approved a command outside of the fence with the
// list of changes in view, whichever session, mode or process comes in between.
//
//	place := unseen.Place{Dir: "/home/ann/.local/state/buddy/marks", Folders: []string{"/home/ann/shop"}}
//	end, err := place.Begin(true) // before the change; end() after it
//	marks, err := place.Marks()   // when the dialog opens
//	files, more := unseen.Changes(marks, time.Second)
//	unseen.Clear(marks) // once the person has approved
//
// A mark is a file. It begins with a line of JSON and grows with each change, so that its size tells whether there was
// another one since. Whoever changes something holds a shared lock on it, which the kernel releases when that process ends.
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

// Place is a workspace and where its marks are. The zero value remembers nothing.
type Place struct {
	Dir     string   // with the marks of all workspaces; "" is none
	Folders []string // of the workspace, absolute paths
}

// Mark says that a folder was changed without asking.
type Mark struct {
	Folder string // a real path
	Since  time.Time
	Auto   bool // a command in the fence or a tool in mode auto changed it; else a tool in another mode

	file    string
	size    int64
	id      string // of the folder, under whatever name
	running bool   // a change was being made when the mark was read
}

// header is the first line of a mark.
type header struct {
	Folder string    `json:"folder"`
	ID     string    `json:"id,omitempty"`
	Since  time.Time `json:"since"`
}

// What a mark grows by.
const (
	byAuto  = "A\n"
	byOther = "O\n"
)

// Begin marks the folders of the workspace before a change; auto is as in [Mark]. No approval clears the marks before end is called or this
// process ends. After an error nothing may be changed.
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

// begin marks one folder and returns the file, which is locked.
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
		} else if err == nil { // somebody cleared it in between
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

// Marks returns the marks of folders that are in the workspace or contain it. A mark that can't be read counts as one.
func (p Place) Marks() ([]Mark, error) { return p.marks(true) }

// marks is Marks; only with probe it finds out what is running, which keeps others from finding that out.
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

// Marked reports whether the workspace was changed without asking; with inAuto by a tool in any mode, else only as [Mark.Auto] says.
func (p Place) Marked(inAuto bool) bool {
	marks, err := p.marks(false)
	return err != nil || slices.ContainsFunc(marks, func(m Mark) bool { return inAuto || m.Auto })
}

// read reads a mark; ok is false if it is gone, or nothing was changed yet.
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

// Clear removes marks, unless a change was being made when they were read, or one began since.
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
		_ = os.Remove(m.file) // it stays if this fails, and asks once more
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

// id identifies a folder that may be renamed or have several names; "" if it is not there.
func id(folder string) string {
	var st unix.Stat_t
	if unix.Stat(folder, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}
