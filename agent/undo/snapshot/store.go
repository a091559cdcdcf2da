package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	files "buddy/tools/fs"
)

// object returns the path of a stored content.
func (t *Tree) object(sum string) string {
	return filepath.Join(t.o.Store, "objects", sum[:2], sum[2:])
}

// Content returns the stored content of a state. It fails if the content was removed or does not match its sum.
func (t *Tree) Content(s State) ([]byte, error) {
	if len(s.Sum) != wholeSum {
		return nil, errNotKept
	}
	data, err := os.ReadFile(t.object(s.Sum))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errNotKept
	case err != nil:
		return nil, err
	case sumOf(data) != s.Sum:
		return nil, fmt.Errorf("the copy %q is damaged", t.object(s.Sum))
	}
	return data, nil
}

var errNotKept = errors.New("its content is not kept")

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Add stores data and returns its sum.
func (t *Tree) Add(data []byte) (sum string, err error) {
	sum = sumOf(data)
	path := t.object(sum)
	if info, err := os.Lstat(path); err == nil && info.Size() == int64(len(data)) { // a power failure may leave less
		return sum, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("%w: %w", errStore, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return "", fmt.Errorf("%w: %w", errStore, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("%w: %w", errStore, err)
	}
	return sum, nil
}

var errStore = errors.New("copies of files can't be stored")

// keep stores the content of an open file and returns its sum, or "" if the file has grown over the limit. buf is
// reused between calls.
func (t *Tree) keep(f io.Reader, size int64, buf *[]byte) (sum string, err error) {
	if int64(cap(*buf)) <= size {
		*buf = make([]byte, size+size/4+512)
	}
	b := (*buf)[:cap(*buf)]
	n := 0
	for {
		if n == len(b) {
			if int64(n) > t.o.Limits.File {
				return "", nil
			}
			b = append(b, 0)
			b = b[:cap(b)]
			*buf = b
		}
		m, err := f.Read(b[n:])
		n += m
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if int64(n) > t.o.Limits.File {
		return "", nil
	}
	return t.Add(b[:n])
}

// Sweep must be called at the end of a session. It makes the session's index the base for the next session, and removes
// the oldest contents while the store is over its limit. It keeps the contents of the present files and of the
// session's lists of changes. While another session uses the store, nothing is removed.
func (t *Tree) Sweep() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.Started() || t.lock == nil {
		return nil
	}
	defer func() {
		_ = t.lock.Close()
		t.lock = nil
	}()
	if err := copyFile(t.index(), t.base()); err != nil {
		return err
	}
	type content struct {
		path string
		info fs.FileInfo
	}
	var all []content
	total := int64(0)
	err := filepath.WalkDir(filepath.Join(t.o.Store, "objects"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // another session has removed it
		}
		total += info.Size()
		all = append(all, content{path, info})
		return nil
	})
	if err != nil || total <= t.o.Limits.Total {
		return err
	}
	if unix.Flock(int(t.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil // the last session removes them
	}
	needed, err := t.needed()
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b content) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	for _, c := range all {
		if total <= t.o.Limits.Total {
			break
		}
		if !needed[c.path] && os.Remove(c.path) == nil {
			total -= c.info.Size()
		}
	}
	return nil
}

// share marks the store as in use by this session, until Sweep is called or the process ends.
func (t *Tree) share() error {
	if t.lock != nil {
		return nil
	}
	if err := os.MkdirAll(t.o.Store, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(t.o.Store, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
		return errors.Join(err, f.Close())
	}
	t.lock = f
	return nil
}

// Used returns the size of all contents in the store, in bytes.
func (t *Tree) Used() (total int64) {
	_ = filepath.WalkDir(filepath.Join(t.o.Store, "objects"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil // what can't be read is not counted
	})
	return total
}

// needed returns the paths of the stored contents to which the session's index and lists refer.
func (t *Tree) needed() (map[string]bool, error) {
	all := make(map[string]bool)
	old, err := openIndex(t.index())
	if err != nil {
		return nil, err
	}
	defer old.close()
	for one := old.next(); one != nil; one = old.next() {
		if one.hasSum() {
			all[t.object(hex.EncodeToString(one.sum[:]))] = true
		}
	}
	lists, err := os.ReadDir(t.o.State)
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		if filepath.Ext(list.Name()) != listSuffix {
			continue
		}
		changes, err := Read(filepath.Join(t.o.State, list.Name()))
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			for _, s := range []State{c.Before, c.After} {
				if len(s.Sum) == wholeSum {
					all[t.object(s.Sum)] = true
				}
			}
		}
	}
	return all, nil
}

// copyFile atomically replaces a file by a copy of another one.
func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer files.Release(in)
	out, err := os.CreateTemp(filepath.Dir(to), ".new-")
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		_ = os.Remove(out.Name())
	}
	return err
}
