package tools

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// replaceFile puts data at the planned path, as a whole or not at all: it writes a
// temporary file in the same folder and renames it. Missing folders are made. An
// existing file keeps its permissions, and its owner and group as far as we may set
// them; other hard links to it keep the old content.
func replaceFile(path string, data []byte) error {
	dir, err := passDir(filepath.Dir(path), true)
	if err != nil {
		return err
	}
	defer release(dir)
	name := filepath.Base(path)
	temp := ".buddy-" + rand.Text() + ".tmp"
	if err := writeTemp(dir, name, temp, data); err != nil {
		return fmt.Errorf("%q: %w", path, cause(err))
	}
	if err := unix.Renameat(int(dir.Fd()), temp, int(dir.Fd()), name); err != nil {
		_ = unix.Unlinkat(int(dir.Fd()), temp, 0)
		return fmt.Errorf("%q: %w", path, err)
	}
	return nil
}

// writeTemp makes the file temp in dir, with data and with the rights of the file name
// if there is one. It leaves nothing behind when it fails.
func writeTemp(dir *os.File, name, temp string, data []byte) (err error) {
	var old unix.Stat_t
	statErr := unix.Fstatat(int(dir.Fd()), name, &old, unix.AT_SYMLINK_NOFOLLOW)
	exists := statErr == nil
	if exists && !modeOf(&old).IsRegular() {
		return notRegular(filepath.Join(dir.Name(), name), modeOf(&old))
	}
	if !exists && !errors.Is(statErr, fs.ErrNotExist) {
		return statErr
	}
	perm := uint32(0o666) // less the umask
	if exists {
		perm = 0o600 // until its rights are set
	}
	fd, err := unix.Openat(int(dir.Fd()), temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
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
	if exists {
		if err := keepRights(f, &old); err != nil {
			return err
		}
	}
	return f.Sync()
}

// keepRights gives f the owner, group and permissions in old. Who may not give a file
// away becomes its owner: he could have written it before, so nobody gains anything.
func keepRights(f *os.File, old *unix.Stat_t) error {
	_ = f.Chown(int(old.Uid), -1)
	_ = f.Chown(-1, int(old.Gid))
	return f.Chmod(fs.FileMode(old.Mode & 0o777))
}
