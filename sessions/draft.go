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

// maxDrafts limits the stored unsent texts of one session, and those of one folder.
const maxDrafts = 64

// Draft stores the unsent text of one screen. Its file is locked while the screen's process runs, so that other screens
// neither overwrite the text nor show it; they may take over the text of a screen that has ended. While the text is
// empty, nothing is stored or locked. A Draft is for one goroutine.
type Draft struct {
	places  []string     // possible files; the first free one is used
	makeDir func() error // creates their folder
	path    string       // the file in use
	lock    *os.File     // of that file; nil: no text is stored
}

// Draft returns the draft of a screen on a stored session. The file is in the session's folder: ID.draft for the first
// screen, ID.draft.2 and so on for others.
func (s Store) Draft(id string) *Draft {
	if err := CheckID(id); err != nil {
		return &Draft{makeDir: func() error { return err }}
	}
	return &Draft{places: s.drafts(id), makeDir: s.makeDir}
}

// drafts returns the possible files for unsent text of a session.
func (s Store) drafts(id string) []string {
	all := []string{filepath.Join(s.dir, id+".draft")}
	for n := 2; n <= maxDrafts; n++ {
		all = append(all, all[0]+"."+strconv.Itoa(n))
	}
	return all
}

// Unsent returns the draft of a screen whose session has no file yet. It is in the user's state directory, so that
// merely opening a folder does not change it.
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

// TakeOver makes the newest text of an ended screen the text of this draft, and returns it; "" if there is none. Call
// it before Save.
func (d *Draft) TakeOver() string {
	left := slices.DeleteFunc(slices.Clone(d.places), func(path string) bool { return !exists(path) })
	slices.SortStableFunc(left, func(a, b string) int { return modified(b).Compare(modified(a)) })
	for _, path := range left {
		if d.hold(path) != nil {
			continue // a running screen has it
		}
		if text := d.Adopt(Left{d.path, d.lock}); text != "" {
			return text
		}
	}
	return ""
}

// Left is the text of a screen that has ended. It is locked until a draft adopts it or Release is called.
type Left struct {
	path string
	lock *os.File
}

// Release makes the text available to other screens.
func (l Left) Release() { _ = l.lock.Close() }

// AwaitLeft waits, if the draft is empty, for the end of each screen that now has a text, and then calls left on a
// goroutine of its own; a screen that sends its text does not count. A killed screen keeps its text until its process
// has ended, a moment after its terminal has closed.
func (d *Draft) AwaitLeft(left func(Left)) {
	for _, path := range d.places {
		lock, err := OpenPlain(path+".lock", os.O_RDWR)
		if err != nil {
			continue // no screen has it
		}
		go func() {
			if lockPlace(lock, path, syscall.LOCK_EX) == nil {
				left(Left{path, lock})
			}
		}()
	}
}

// Adopt makes the text of an ended screen the text of this draft, which must be empty, and returns it; "" if the text
// is gone.
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

// lockPlace locks the open lock file of a draft, or closes it. [Draft.Save] may have removed the file after it was
// opened: such a lock is invalid.
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

// Save replaces the stored text; an empty text removes it. Other processes see the old text or the new one, never a
// part.
func (d *Draft) Save(text string) error {
	switch {
	case text == "" && d.lock == nil:
		return nil
	case text == "":
		err := os.Remove(d.path)
		_ = os.Remove(d.path + ".lock") // an unlocked file does no harm
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

// place chooses and locks the first free file, unless the draft has one.
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
		d.Close() // keeps the text of an ended screen
		err = errors.New("the saved drafts of closed screens use these files")
	}
	return fmt.Errorf("draft %s: all %d files are in use: %w", filepath.Base(d.places[0]), len(d.places), err)
}

// Close releases the text to the next screen that takes it over.
func (d *Draft) Close() {
	if d.lock != nil {
		_ = d.lock.Close() // no pending writes
		d.lock = nil
	}
}
