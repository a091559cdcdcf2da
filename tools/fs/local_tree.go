package fs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// StatIn describes the entry name of a folder of this machine, without following a link.
func StatIn(dir Folder, name string) (st unix.Stat_t, err error) {
	local, ok := dir.(localFolder)
	if !ok {
		return st, fmt.Errorf("%q is not on this machine", dir.Name())
	}
	if err := unix.Fstatat(int(local.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return st, &os.PathError{Op: "lstat", Path: Join(dir.Name(), name), Err: err}
	}
	return st, nil
}

// ModeOf returns the kind and the permissions of a file.
func ModeOf(st *unix.Stat_t) os.FileMode { return modeOf(st) }

// The functions below change entries of any kind on this machine. Paths are absolute; a link in one is an error.

// MakeFolder creates a folder that only its owner may use.
func MakeFolder(path string) error {
	return inParent(path, func(dir int, name string) error { return unix.Mkdirat(dir, name, 0o700) })
}

// MakeLink creates a symbolic link, or replaces a link or a regular file by it.
func MakeLink(path, target string) error {
	return inParent(path, func(dir int, name string) error {
		temp := tempName()
		if err := unix.Symlinkat(target, dir, temp); err != nil {
			return err
		}
		err := unix.Renameat(dir, temp, dir, name)
		if err != nil {
			_ = unix.Unlinkat(dir, temp, 0)
		}
		return err
	})
}

// RemoveEntry removes a file, a link or, if folder is set, an empty folder.
func RemoveEntry(path string, folder bool) error {
	flags := 0
	if folder {
		flags = unix.AT_REMOVEDIR
	}
	return inParent(path, func(dir int, name string) error { return unix.Unlinkat(dir, name, flags) })
}

// SetPermissions sets the permissions of a regular file or a folder.
func SetPermissions(path string, perm os.FileMode) error {
	return inParent(path, func(dir int, name string) error {
		err := unix.Fchmodat(dir, name, uint32(perm.Perm()), unix.AT_SYMLINK_NOFOLLOW)
		if !errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
		var st unix.Stat_t // an old kernel can't refuse a link itself
		if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		if modeOf(&st)&os.ModeSymlink != 0 {
			return unix.ELOOP
		}
		return unix.Fchmodat(dir, name, uint32(perm.Perm()), 0)
	})
}

// inParent calls change with the open parent folder of a path.
func inParent(path string, change func(dir int, name string) error) error {
	dir, err := passDir(filepath.Dir(path), false)
	if err != nil {
		return err
	}
	defer Release(dir)
	if err := change(int(dir.Fd()), filepath.Base(path)); err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	return nil
}
