package fs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A rename replaces a file by a new one, which would lose attributes of the old file: hard links, an access list,
// extended attributes, an owner that we may not set. Such a file is written in place, with its old bytes in a
// [Recovery] until the write is complete.

// TornError means that an in-place write failed in the middle: the file may hold a mix of old and new bytes.
type TornError struct{ Err error }

func (e *TornError) Error() string { return e.Err.Error() + "; the file may be half written" }

// Unwrap returns the cause.
func (e *TornError) Unwrap() error { return e.Err }

// stores lists folders whose files are hard links into a package manager's common store: folder names joined and ended
// by /. A change there must not reach the store and other projects.
var stores = []string{
	"node_modules/", ".pnpm-store/", "pnpm/store/", ".yarn/", ".bun/install/cache/", // Node
	"site-packages/", ".cache/uv/", "Caches/uv/", ".conda/pkgs/", "anaconda3/pkgs/", "miniconda3/pkgs/", // Python
	"go/pkg/mod/", ".cargo/registry/", ".m2/repository/", ".gradle/caches/", "vendor/bundle/", "vendor/cache/",
}

// BreaksLinks reports whether a change of the file at path must not reach the file's other hard links.
func BreaksLinks(path string) bool {
	return slices.ContainsFunc(stores, func(s string) bool { return strings.Contains(path, "/"+s) })
}

// mayWrite returns an error if the file can't be written in place.
func (s *localStaged) mayWrite() error {
	f, err := openat(s.dir, s.name, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, unix.EACCES) && s.opensForOwner() {
		return nil
	}
	return err
}

// opensForOwner reports whether the file is ours but read-only, so that we can make it writable for the write.
func (s *localStaged) opensForOwner() bool {
	return s.old.Mode&0o200 == 0 && int(s.old.Uid) == os.Geteuid()
}

// writeInPlace replaces the content of the file and keeps its attributes except setuid and setgid.
func (s *localStaged) writeInPlace() (err error) {
	f, opened, err := s.openInPlace()
	if err != nil {
		return Cause(err)
	}
	defer func() {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = &TornError{closeErr}
		}
	}()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("it is not a regular file any more"))
	}
	perm := os.FileMode(s.old.Mode & 0o777)
	if s.old.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
		_ = f.Chmod(perm) // before new bytes are in it; if not permitted, the kernel does it on write
	}
	if err := overwrite(f, s.data); err != nil {
		return &TornError{Cause(err)}
	}
	if s.rights.Perm != 0 && s.rights.Perm != perm {
		opened, perm = true, s.rights.Perm
	}
	if opened {
		if err := f.Chmod(perm); err != nil {
			return &TornError{Cause(err)}
		}
	}
	return nil
}

// openInPlace opens the file for writing. opened means that it gave the owner write permission to do so.
func (s *localStaged) openInPlace() (f *os.File, opened bool, err error) {
	const flags = unix.O_WRONLY | unix.O_NONBLOCK | unix.O_NOCTTY
	if f, err = openat(s.dir, s.name, flags); !errors.Is(err, unix.EACCES) || !s.opensForOwner() {
		return f, false, err
	}
	if err := unix.Fchmodat(int(s.dir.Fd()), s.name, uint32(s.old.Mode&0o777|0o200), 0); err != nil {
		return nil, false, err
	}
	if f, err = openat(s.dir, s.name, flags); err != nil {
		_ = unix.Fchmodat(int(s.dir.Fd()), s.name, uint32(s.old.Mode&0o777), 0)
	}
	return f, true, err
}

// overwrite replaces the content of an open file. It truncates the file last, so that restoring the old content needs
// no new space for its beginning.
func overwrite(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	return f.Sync()
}

// putBack restores the content and permissions of the file at the planned path.
func putBack(path string, data []byte, perm os.FileMode) error {
	dir, err := passDir(filepath.Dir(path), false)
	if err != nil {
		return err
	}
	defer Release(dir)
	s := &localStaged{dir: dir, name: filepath.Base(path), data: data, rights: Rights{Perm: perm}, old: new(unix.Stat_t)}
	if err := unix.Fstatat(int(dir.Fd()), s.name, s.old, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	return s.writeInPlace()
}
