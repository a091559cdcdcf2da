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
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// Unsent stores unsent text before a session has a file. It is in the user's state directory:
// a folder that is only looked at stays unchanged, and a cloned repository cannot put text
// into a person's prompt. It is locked while its process lives, so that another one takes over
// only what a crash left. It is for one goroutine.
type Unsent struct {
	path string   // of the draft
	lock *os.File // nil until there is text
}

// Unsent takes over the last unsent text in this folder of a process that is gone, or "".
func (s Store) Unsent() (u *Unsent, text string) {
	prefix := filepath.Join(s.state, "drafts", folderName(s.dir)+"-")
	all, _ := filepath.Glob(prefix + "*.draft") // the pattern is valid
	slices.SortFunc(all, func(a, b string) int { return modified(b).Compare(modified(a)) })
	for _, path := range all {
		u := &Unsent{path: path}
		if u.hold() != nil {
			continue // another process is about to send it
		}
		if data, err := readSmall(path); err == nil && len(data) > 0 {
			return u, string(data)
		}
		u.Close()
	}
	return &Unsent{path: prefix + NewID() + ".draft"}, ""
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

// hold locks the draft.
func (u *Unsent) hold() error {
	f, err := OpenPlain(u.path+".lock", os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(err, f.Close())
	}
	u.lock = f
	return nil
}

// Save replaces the stored text; an empty one removes it. Other processes see the old one or
// the new one, never a part.
func (u *Unsent) Save(text string) error {
	switch {
	case text == "" && u.lock == nil:
		return nil
	case text == "":
		err := errors.Join(os.Remove(u.path), os.Remove(u.path+".lock"))
		u.Close()
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	if u.lock == nil {
		if err := os.MkdirAll(filepath.Dir(u.path), 0o700); err != nil {
			return fmt.Errorf("draft: %w", err)
		}
		if err := u.hold(); err != nil {
			return fmt.Errorf("draft: %w", err)
		}
	}
	if err := renameio.WriteFile(u.path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("draft %s: %w", u.path, err)
	}
	return nil
}

// Close releases the text to the next process that asks for it.
func (u *Unsent) Close() {
	if u.lock != nil {
		_ = u.lock.Close() // it holds nothing but the lock
		u.lock = nil
	}
}
