package tryfirst

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"buddy/owners"
	"buddy/texts"
	"buddy/tmux/pane/try"
)

// layers is the private folder for the layers of one session. A layer holds the changes of one command that was tried.
// A lock tells other processes that the session runs.
type layers struct {
	dir  string
	lock *os.File
}

// Bases returns the folders that may hold layers: the given ones, and one next to the workspace, because that is more
// often on the workspace's file system.
func Bases(work string, others ...string) []string {
	return append(others, filepath.Join(filepath.Dir(texts.RealPath(work)), ".buddy-try"))
}

// folderOf returns the folder below a base for the layers of a workspace.
func folderOf(base string, work []string) string {
	sum := sha256.Sum256([]byte(texts.RealPath(work[0])))
	return filepath.Join(base, hex.EncodeToString(sum[:8]))
}

// newLayers creates and locks the folder of a session.
func newLayers(base string, work []string, session string) (*layers, error) {
	if len(work) == 0 {
		return nil, errors.New("there is no workspace")
	}
	dir := filepath.Join(folderOf(base, work), session)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("buddy found no place for the changes on the workspace's file system: %w", err)
	}
	for _, d := range []string{base, filepath.Dir(dir), dir} {
		if err := owners.CheckOwn(d); err != nil {
			return nil, err
		}
	}
	lock, err := locked(dir)
	if err != nil {
		return nil, err
	}
	return &layers{dir, lock}, nil
}

// locked opens a folder and locks it. The error is [syscall.EWOULDBLOCK] if another process has the lock.
func locked(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// close removes the folder, and the folders above it if they are empty. A layer whose changes could not all be applied
// stays, and so does the folder.
func (l *layers) close() {
	for dir, n := l.dir, 0; n < 3 && os.Remove(dir) == nil; dir, n = filepath.Dir(dir), n+1 {
	}
	_ = l.lock.Close()
}

// clean completes and removes the layers that ended sessions have left for a workspace. kept is the number of layers
// whose changes such a session had only begun to apply to the workspace, and clean has now applied.
func clean(bases, work []string) (kept int, errs []error) {
	if len(work) == 0 {
		return 0, nil
	}
	for _, base := range bases {
		sessions, _ := filepath.Glob(filepath.Join(folderOf(base, work), "*"))
		for _, dir := range sessions {
			if owners.CheckOwn(dir) != nil {
				continue
			}
			lock, err := locked(dir)
			if err != nil {
				continue // its session runs
			}
			n, failed := cleanOne(dir)
			kept, errs = kept+n, append(errs, failed...)
			(&layers{dir, lock}).close()
		}
	}
	return kept, errs
}

// cleanOne completes and removes the layers of one session.
func cleanOne(dir string) (kept int, errs []error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return 0, []error{err}
	}
	for _, e := range all {
		layer := filepath.Join(dir, e.Name())
		_, before := os.Lstat(filepath.Join(layer, "kept"))
		done, err := try.Resume(layer)
		if err == nil {
			err = try.Discard(layer)
		}
		if done && errors.Is(before, fs.ErrNotExist) {
			kept++
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return kept, errs
}
