package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// maxDrafts limits the unsent texts of one session that are stored, and those of one folder.
const maxDrafts = 64

// Draft stores the unsent text of one screen. Its file is locked while the process of the screen
// lives, so that others neither overwrite the text nor show it; they may take over what a
// screen left that is gone. Nothing is stored, and nothing locked, while the text is empty. It is
// for one goroutine.
type Draft struct {
	places  []string     // files that it may be stored in, the first free one is taken
	makeDir func() error // makes their folder
	path    string       // the file that it is stored in
	lock    *os.File     // of that file; nil: nothing is stored
}

// Draft returns the draft of a screen on a stored session. It is beside the session: the first in
// ID.draft, those of other screens in ID.draft.2 and so on.
func (s Store) Draft(id string) *Draft {
	if err := CheckID(id); err != nil {
		return &Draft{makeDir: func() error { return err }}
	}
	return &Draft{places: s.drafts(id), makeDir: s.makeDir}
}

// drafts are the files that unsent text of a session may be in.
func (s Store) drafts(id string) []string {
	all := []string{filepath.Join(s.dir, id+".draft")}
	for n := 2; n <= maxDrafts; n++ {
		all = append(all, all[0]+"."+strconv.Itoa(n))
	}
	return all
}

// Unsent returns the draft of a screen whose session has no file yet. It is in the user's state
// directory: a folder that is only looked at stays unchanged.
func (s Store) Unsent() *Draft {
	dir := filepath.Join(s.state, "drafts")
	old, _ := filepath.Glob(filepath.Join(dir, folderName(s.dir)+"-*.draft")) // the pattern is valid
	fresh := filepath.Join(dir, folderName(s.dir)+"-"+NewID()+".draft")
	return &Draft{places: append(old[:min(len(old), maxDrafts)], fresh), makeDir: func() error { return os.MkdirAll(dir, 0o700) }}
}

// folderName returns a name for a path, of letters and digits.
func folderName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// modified returns a file's modification time, the zero time for a missing file.
func modified(path string) time.Time {
	fi, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return fi.ModTime()
}

// TakeOver makes the newest text that a screen left which is gone the one of this draft, and
// returns it; "" if there is none. It is called before Save.
func (d *Draft) TakeOver() string {
	left := slices.DeleteFunc(slices.Clone(d.places), func(path string) bool { return !exists(path) })
	slices.SortStableFunc(left, func(a, b string) int { return modified(b).Compare(modified(a)) })
	for _, path := range left {
		if d.hold(path) != nil {
			continue // a screen that lives has it
		}
		if text := d.Adopt(Left{d.path, d.lock}); text != "" {
			return text
		}
	}
	return ""
}

// Left is the text of a screen that has ended. Its lock is held until a draft adopts it or it is released.
type Left struct {
	path string
	lock *os.File
}

// Release leaves the text to another screen.
func (l Left) Release() { _ = l.lock.Close() }

// AwaitLeft waits, for a draft without a text, for the screens that have one now: when one of them ends, or sends its text, left is called
// from a goroutine of its own. A screen that was killed holds its text until its process has ended, which takes a
// moment after its terminal is gone.
func (d *Draft) AwaitLeft(left func(Left)) {
	for _, path := range d.places {
		lock, err := OpenPlain(path+".lock", os.O_RDWR)
		if err != nil {
			continue // nobody has it
		}
		go func() {
			if lockPlace(lock, path, syscall.LOCK_EX) == nil {
				left(Left{path, lock})
			}
		}()
	}
}

// Adopt makes a text that was left the one of this draft, which has none, and returns it; "" if it is gone.
func (d *Draft) Adopt(l Left) string {
	d.path, d.lock = l.path, l.lock
	if text, err := readSmall(l.path); err == nil && len(text) > 0 {
		return text
	}
	d.Close()
	return ""
}

// hold locks the draft that is stored in a file.
func (d *Draft) hold(path string) error {
	lock, err := OpenPlain(path+".lock", os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := lockPlace(lock, path, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	d.path, d.lock = path, lock
	return nil
}

// lockPlace locks the opened lock file of a draft, or closes it. What [Draft.Save] removes may be locked by somebody
// who opened it before: such a lock counts for nothing.
func lockPlace(lock *os.File, path string, how int) error {
	if err := syscall.Flock(int(lock.Fd()), how); err != nil {
		return errors.Join(err, lock.Close())
	}
	locked, err := lock.Stat()
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	if there, err := os.Lstat(path + ".lock"); err != nil || !os.SameFile(locked, there) {
		return errors.Join(syscall.EWOULDBLOCK, lock.Close())
	}
	return nil
}

// Save replaces the stored text; an empty one removes it. Other processes see the old one or
// the new one, never a part.
func (d *Draft) Save(text string) error {
	switch {
	case text == "" && d.lock == nil:
		return nil
	case text == "":
		err := os.Remove(d.path)
		_ = os.Remove(d.path + ".lock") // which is in nobody's way
		d.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("draft: %w", err)
		}
		return nil
	}
	if err := d.place(); err != nil {
		return err
	}
	if err := renameio.WriteFile(d.path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("draft %s: %w", d.path, err)
	}
	return nil
}

// place takes the first free file, if none is taken.
func (d *Draft) place() error {
	if d.lock != nil {
		return nil
	}
	if err := d.makeDir(); err != nil {
		return fmt.Errorf("draft: %w", err)
	}
	var err error
	for _, path := range d.places {
		if err = d.hold(path); err != nil {
			continue // another screen has it
		}
		if !exists(path) {
			return nil
		}
		d.Close() // what a screen left is not to be lost
		err = errors.New("what other screens left is in the way")
	}
	return fmt.Errorf("draft %s: all %d places are taken: %w", filepath.Base(d.places[0]), len(d.places), err)
}

// Close releases the text to the next screen that takes it over.
func (d *Draft) Close() {
	if d.lock != nil {
		_ = d.lock.Close() // it holds nothing but the lock
		d.lock = nil
	}
}
