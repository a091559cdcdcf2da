package worktree

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"buddy/texts"
)

// Tree is a worktree that buddy made. While it is open, this process holds a shared lock on it, which the kernel
// releases when the process ends; a worktree is removed only under the exclusive lock.
type Tree struct {
	Name string `json:"-"`
	note
	folder string // of the worktrees of its repository
	lock   *os.File
	git    *git // in the worktree
}

// note holds what buddy stores about a worktree, outside of it.
type note struct {
	Main   string            `json:"main"`           // the main checkout
	Branch string            `json:"branch"`         // of the worktree
	Base   string            `json:"base"`           // the commit that it started from
	Into   string            `json:"into,omitempty"` // the branch that was checked out there; "" if none
	Made   time.Time         `json:"made"`
	Ready  bool              `json:"ready"`            // it was made completely
	Put    map[string]string `json:"put,omitempty"`    // checksums of ignored entries that buddy put there
	Unsaid []string          `json:"unsaid,omitempty"` // notices for its first session
}

// Dir returns the folder of the worktree.
func (t *Tree) Dir() string { return filepath.Join(t.folder, t.Name) }

// maxNamed limits the bytes of a worktree's name.
const maxNamed = 60

var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckName returns why a name can't be a worktree's, nil if it can.
func CheckName(name string) error {
	if !goodName.MatchString(name) || len(name) > maxNamed || strings.Contains(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") {
		return fmt.Errorf("--worktree: %q can't be a name: use up to %d letters, digits, dots, dashes and underscores, starting with a letter or a digit", texts.Clip(name, 80), maxNamed)
	}
	return nil
}

func (t *Tree) file(suffix string) string {
	return filepath.Join(t.folder, records, t.Name+suffix)
}

// open reads the notes about a worktree; nil if buddy made none of that name.
func open(folder, name string) *Tree {
	t := &Tree{Name: name, folder: folder}
	text := small(t.file(".json"))
	if text == "" || json.Unmarshal([]byte(text), &t.note) != nil || t.Main == "" || t.Branch == "" {
		return nil
	}
	return t
}

// save stores the notes.
func (t *Tree) save() error {
	data, err := json.Marshal(t.note)
	if err == nil {
		err = renameio.WriteFile(t.file(".json"), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("the worktree %s can't be recorded: %w", t.Name, err)
	}
	return nil
}

// errBusy is returned when another process holds a lock.
var errBusy = errors.New("another session uses it")

// hold takes the lock of a worktree. how is syscall.LOCK_SH or LOCK_EX; with LOCK_NB, hold fails with errBusy instead
// of waiting.
func (t *Tree) hold(how int) error {
	for {
		if t.lock == nil {
			f, err := os.OpenFile(t.file(".lock"), os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				return fmt.Errorf("the lock of the worktree %s: %w", t.Name, err)
			}
			t.lock = f
		}
		err := syscall.Flock(int(t.lock.Fd()), how)
		for errors.Is(err, syscall.EINTR) {
			err = syscall.Flock(int(t.lock.Fd()), how)
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return errBusy
		}
		if err != nil {
			return fmt.Errorf("the lock of the worktree %s: %w", t.Name, err)
		}
		is, err := t.lock.Stat()
		now, gone := os.Lstat(t.file(".lock"))
		if err == nil && gone == nil && os.SameFile(is, now) {
			return nil
		}
		t.Release() // it was removed while this process waited
	}
}

// Held reports whether this process holds the lock.
func (t *Tree) Held() bool { return t.lock != nil }

// Release drops the lock. A nil Tree has none.
func (t *Tree) Release() {
	if t != nil && t.lock != nil {
		_ = t.lock.Close() // nothing is written to it
		t.lock = nil
	}
}

// forget removes the notes. The caller holds the exclusive lock.
func (t *Tree) forget() error {
	err := os.Remove(t.file(".json"))
	return errors.Join(err, os.Remove(t.file(".lock")))
}

// At returns the worktree of buddy that a folder is in, without its lock; nil for none.
func At(dir string) *Tree {
	root := texts.RealPath(Root())
	rel, err := filepath.Rel(root, texts.RealPath(dir))
	parts := strings.SplitN(filepath.ToSlash(rel), "/", 3)
	if err != nil || len(parts) < 2 || !filepath.IsLocal(rel) || CheckName(parts[1]) != nil {
		return nil
	}
	return open(filepath.Join(root, parts[0]), parts[1])
}

// MainOf returns the folder of the main checkout that corresponds to a folder in a worktree of buddy, "" for none.
func MainOf(dir string) string {
	t := At(dir)
	if t == nil {
		return ""
	}
	rel, err := filepath.Rel(texts.RealPath(t.Dir()), texts.RealPath(dir))
	if err != nil {
		return ""
	}
	return filepath.Join(t.Main, rel)
}

// Hold takes the shared lock for as long as a session runs in the worktree.
func (t *Tree) Hold() error { return t.hold(syscall.LOCK_SH) }

// TakeNotices returns the notices for the first session in the worktree, once.
func (t *Tree) TakeNotices() []string {
	all := t.Unsaid
	if len(all) == 0 {
		return nil
	}
	t.Unsaid = nil
	_ = t.save() // otherwise they are shown again
	return all
}
