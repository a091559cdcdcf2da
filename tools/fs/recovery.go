package fs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Recovery is a folder on this machine with the old bytes of files that are being written in place: after a crash the
// next start restores the files. Each file has its own subfolder, which is locked as long as the writing process lives.
type Recovery string

// Names in the folder of one file.
const (
	oldBytes       = "old"
	newBytes       = "new"
	openRecord     = "record.json" // written last
	reportedRecord = "told.json"   // openRecord, renamed after the file was reported
)

// keptCopies limits how long the old bytes of a file are kept after the file was reported.
const keptCopies = 30 * 24 * time.Hour

// record identifies the file from which the old bytes come.
type record struct {
	Target string      `json:"target"`
	Path   string      `json:"path"`
	Perm   os.FileMode `json:"perm"`
}

// Kept holds the old bytes of one file.
type Kept struct {
	lock  *os.File // the folder
	files FS
	record
}

// Keep copies the bytes of the file at path, which is about to be overwritten with data, and waits until the copy is on
// the disk.
func (r Recovery) Keep(ctx context.Context, files FS, path string, data []byte) (k *Kept, err error) {
	if r == "" {
		return nil, fmt.Errorf("%q can only be written in place, and there is no folder for a copy of it", path)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%q: nothing was written, because its content could not be copied first: %w", path, err)
		}
	}()
	old, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer Release(old)
	if err := os.MkdirAll(string(r), 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(string(r), time.Now().UTC().Format("20060102-150405-"))
	if err != nil {
		return nil, err
	}
	k = &Kept{files: files, record: record{files.Name(), path, old.Mode.Perm()}}
	if k.lock, err = lockFolder(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() {
		if err != nil {
			k.forget()
		}
	}()
	text, err := json.Marshal(k.record)
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		name string
		from io.Reader
	}{{oldBytes, old}, {newBytes, bytes.NewReader(data)}, {openRecord, bytes.NewReader(text)}} {
		if err := toDisk(filepath.Join(dir, one.name), one.from); err != nil {
			return k, err
		}
	}
	return k, errors.Join(k.lock.Sync(), syncFolder(string(r)))
}

// lockFolder locks a folder until the file is closed, or fails if another process has locked it.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		Release(f)
		return nil, err
	}
	return f, nil
}

// toDisk creates a file that only its owner can read, and waits until it is on the disk.
func toDisk(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (k *Kept) file(name string) string { return filepath.Join(k.lock.Name(), name) }

// forget removes the folder. It removes the record first, because a folder without a record is ignored.
func (k *Kept) forget() {
	_ = os.Remove(k.file(openRecord))
	_ = os.RemoveAll(k.lock.Name()) // the next start removes the rest
	Release(k.lock)
}

// End ends a write that returned err. If err means that the file may be half written, End restores the old bytes; where
// it can't, as on a target, it keeps the copy. In all other cases it removes the copy.
func (k *Kept) End(err error) error {
	half, ok := errors.AsType[*TornError](err)
	if ok && k.files == Local {
		if old, readErr := os.ReadFile(k.file(oldBytes)); readErr == nil && putBack(k.Path, old, k.Perm) == nil {
			ok, err = false, fmt.Errorf("%q is unchanged: %w", k.Path, half.Err)
		}
	}
	if ok {
		Release(k.lock)
		return fmt.Errorf("%w; its earlier content is in %s", err, k.file(oldBytes))
	}
	k.forget()
	return err
}

// Interrupted is a file that an earlier process did not finish writing in place.
type Interrupted struct {
	Path string
	Copy string // a file with the old content; "" if the old content was restored
}

// Recover checks the files of a target whose in-place write was interrupted. It restores the old bytes of a
// half-written file, unless the file has been changed since. Each file is returned only once.
func (r Recovery) Recover(ctx context.Context, files FS) (all []Interrupted) {
	entries, _ := os.ReadDir(string(r)) // usually the folder does not exist
	for _, e := range entries {
		lock, err := lockFolder(filepath.Join(string(r), e.Name()))
		if err != nil {
			continue // another process is writing the file
		}
		k := &Kept{lock: lock, files: files}
		if one := k.recover(ctx); one != nil {
			all = append(all, *one)
		}
		Release(lock)
	}
	return all
}

// recover checks one file. It returns nil when there is nothing to report.
func (k *Kept) recover(ctx context.Context) *Interrupted {
	if info, err := os.Stat(k.file(reportedRecord)); err == nil {
		if time.Since(info.ModTime()) > keptCopies {
			_ = os.RemoveAll(k.lock.Name())
		}
		return nil
	}
	text, err := os.ReadFile(k.file(openRecord))
	if err != nil || json.Unmarshal(text, &k.record) != nil {
		_ = os.RemoveAll(k.lock.Name()) // the file is unchanged or complete
		return nil
	}
	if k.Target != k.files.Name() {
		return nil
	}
	state, err := k.compare(ctx)
	if err == nil && state == half {
		err = k.putBack(ctx)
	}
	switch {
	case err == nil && (state == whole || state == gone):
		k.forget()
		return nil
	case err == nil && state == half:
		k.forget()
		return &Interrupted{Path: k.Path}
	}
	now := time.Now()
	_ = errors.Join(os.Rename(k.file(openRecord), k.file(reportedRecord)), os.Chtimes(k.file(reportedRecord), now, now))
	return &Interrupted{Path: k.Path, Copy: k.file(oldBytes)}
}

// fileState is the state of a file after an interrupted write.
type fileState int

const (
	other fileState = iota // changed since by somebody else
	whole                  // with its old or its new content
	half                   // with the start of the new content, and perhaps the rest of the old one
	gone
)

func (k *Kept) compare(ctx context.Context) (fileState, error) {
	before, err := os.ReadFile(k.file(oldBytes))
	if err != nil {
		return other, err
	}
	after, err := os.ReadFile(k.file(newBytes))
	if err != nil {
		return other, err
	}
	f, err := k.files.Open(ctx, k.Path)
	if errors.Is(err, os.ErrNotExist) {
		return gone, nil
	}
	if err != nil {
		return other, err
	}
	defer Release(f)
	if file, ok := f.ReadCloser.(*os.File); ok && k.Perm&0o200 == 0 && f.Mode.Perm() == k.Perm|0o200 {
		_ = file.Chmod(k.Perm) // the write may have opened it for its owner
	}
	if f.Size > int64(max(len(before), len(after))) {
		return other, nil
	}
	now, err := io.ReadAll(f)
	switch {
	case err != nil:
		return other, err
	case bytes.Equal(now, before), bytes.Equal(now, after):
		return whole, nil
	case halfWritten(now, before, after):
		return half, nil
	}
	return other, nil
}

// halfWritten reports whether a content occurs in the middle of overwriting a file: it is a start of the new content,
// alone or followed by the rest of the old content.
func halfWritten(now, before, after []byte) bool {
	n := 0
	for n < min(len(now), len(after)) && now[n] == after[n] {
		n++
	}
	return n == len(now) || n < len(before) && bytes.Equal(now[n:], before[n:])
}

// putBack restores the old bytes of the file.
func (k *Kept) putBack(ctx context.Context) error {
	old, err := os.ReadFile(k.file(oldBytes))
	if err != nil {
		return err
	}
	if k.files == Local {
		return putBack(k.Path, old, k.Perm)
	}
	s, err := k.files.Stage(ctx, k.Path, old, Rights{Perm: k.Perm})
	if err != nil {
		return err
	}
	defer Release(s)
	_, err = s.Commit(func() error { return nil }) // the copy exists already
	return err
}
