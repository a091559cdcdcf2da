package fs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Rights are the permissions for a written file that differ from those of the file it replaces
// and from the default.
type Rights struct {
	Perm       os.FileMode // exactly these, unless 0
	Executable bool        // a new file is executable
}

// localStaged is new content of a file, stored under a temporary name in its folder.
type localStaged struct {
	dir        *os.File
	name, temp string
	done       bool
}

// stage writes data to a temporary file beside the planned path.
func stage(path string, data []byte, r Rights) (*localStaged, error) {
	dir, err := passDir(filepath.Dir(path), true)
	if err != nil {
		return nil, err
	}
	s := &localStaged{dir: dir, name: filepath.Base(path), temp: tempName()}
	if err := writeTemp(dir, s.name, s.temp, data, r); err != nil {
		Release(dir)
		return nil, fmt.Errorf("%q: %w", path, Cause(err))
	}
	return s, nil
}

func tempName() string { return ".buddy-" + rand.Text() + ".tmp" }

// Commit renames the temporary file to its final name.
func (s *localStaged) Commit() error {
	if err := unix.Renameat(int(s.dir.Fd()), s.temp, int(s.dir.Fd()), s.name); err != nil {
		return fmt.Errorf("%q: %w", filepath.Join(s.dir.Name(), s.name), err)
	}
	s.done = true
	return nil
}

// Close removes the file unless it was committed.
func (s *localStaged) Close() error {
	if !s.done {
		_ = unix.Unlinkat(int(s.dir.Fd()), s.temp, 0)
	}
	return s.dir.Close()
}

// writeTemp creates the file temp in dir with data and, if the file name exists, with its
// rights. It leaves nothing behind when it fails.
func writeTemp(dir *os.File, name, temp string, data []byte, r Rights) (err error) {
	var old unix.Stat_t
	statErr := unix.Fstatat(int(dir.Fd()), name, &old, unix.AT_SYMLINK_NOFOLLOW)
	exists := statErr == nil
	if exists && !modeOf(&old).IsRegular() {
		return notRegular(filepath.Join(dir.Name(), name), modeOf(&old))
	}
	if !exists && !errors.Is(statErr, os.ErrNotExist) {
		return statErr
	}
	fd, err := unix.Openat(int(dir.Fd()), temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, r.initial(exists))
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), filepath.Join(dir.Name(), temp))
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			_ = unix.Unlinkat(int(dir.Fd()), temp, 0)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := r.set(f, exists, &old); err != nil {
		return err
	}
	return f.Sync()
}

// initial returns the permissions that a file is created with, before the umask.
func (r Rights) initial(exists bool) uint32 {
	switch {
	case exists || r.Perm != 0:
		return 0o600 // until its final rights are set
	case r.Executable:
		return 0o777
	default:
		return 0o666
	}
}

// set gives f its final rights; old describes the replaced file.
func (r Rights) set(f *os.File, exists bool, old *unix.Stat_t) error {
	if exists {
		if err := keepRights(f, old); err != nil {
			return err
		}
	}
	if r.Perm != 0 {
		return f.Chmod(r.Perm)
	}
	return nil
}

// keepRights gives f the owner, group and permissions in old. A user who may not change the
// owner becomes it: they could write the file before, so nobody gains rights.
func keepRights(f *os.File, old *unix.Stat_t) error {
	_ = f.Chown(int(old.Uid), -1)
	_ = f.Chown(-1, int(old.Gid))
	return f.Chmod(os.FileMode(old.Mode & 0o777))
}

// removeFile removes the regular file at the planned path.
func removeFile(path string) error {
	dir, err := passDir(filepath.Dir(path), false)
	if err != nil {
		return err
	}
	defer Release(dir)
	name := filepath.Base(path)
	if err := mustBeRegular(dir, name); err != nil {
		return err
	}
	if err := unix.Unlinkat(int(dir.Fd()), name, 0); err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	return nil
}
