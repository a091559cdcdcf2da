package fs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A rename gives a path a new file. What only the old file carries would be lost: hard links, an access list, extended
// attributes, an owner that we may not give away. Such a file is written in place, with its old bytes in a [Recovery]
// until the write is complete.

// TornError means that writing a file in place failed after it began: the file may hold some of its old bytes and some of
// the new ones.
type TornError struct{ Err error }

func (e *TornError) Error() string { return e.Err.Error() + "; the file may be half written" }

// Unwrap returns why it failed.
func (e *TornError) Unwrap() error { return e.Err }

// stores are folders in which package managers link files to their stores: names one below the other, ended by /. A change
// there must not reach the other names, which belong to other projects.
var stores = []string{
	"node_modules/", ".pnpm-store/", "pnpm/store/", ".yarn/", ".bun/install/cache/", // Node
	"site-packages/", ".cache/uv/", "Caches/uv/", ".conda/pkgs/", "anaconda3/pkgs/", "miniconda3/pkgs/", // Python
	"go/pkg/mod/", ".cargo/registry/", ".m2/repository/", ".gradle/caches/", "vendor/bundle/", "vendor/cache/",
}

// BreaksLinks reports whether a change of the file at path is not to reach the file's other names.
func BreaksLinks(path string) bool {
	return slices.ContainsFunc(stores, func(s string) bool { return strings.Contains(path, "/"+s) })
}

// mayWrite returns why the file can't be written in place.
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

// opensForOwner reports whether the file is one of our own that nobody may write, which its owner can change.
func (s *localStaged) opensForOwner() bool {
	return s.old.Mode&0o200 == 0 && int(s.old.Uid) == os.Geteuid()
}

// writeInPlace replaces the content of the file and keeps all else, but for setuid and setgid.
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
		_ = f.Chmod(perm) // before other bytes are in it; for who may not do that, the kernel does as it writes
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

// openInPlace opens the file for writing. opened says that its owner got the right to write for that.
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

// overwrite replaces the content of an open file. It cuts the file last, so that putting the first bytes of the old content
// back needs no new space.
func overwrite(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	return f.Sync()
}

// putBack gives the file at the planned path its earlier content and permissions.
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
