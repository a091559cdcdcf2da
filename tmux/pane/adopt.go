package pane

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"buddy/owners"
)

// commandMax limits the text of a command, in bytes.
const commandMax = 16 << 20

// adopted returns the path of the file from which shells read the command. It is in the supervisor's own directory,
// where no other user can replace it.
func (s *Shell) adopted() string { return filepath.Join(s.dir, "cmd") }

// adopt returns the command in dir/cmd. Both dir and the file must belong to this user or root and be writable only by
// them, because the folders above dir may belong to others, who could replace dir.
func (s *Shell) adopt(dir string) (string, error) {
	folder, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = folder.Close() }()
	if err := checkOwner(folder); err != nil {
		return "", err
	}
	name := filepath.Join(dir, "cmd")
	fd, err := unix.Openat(int(folder.Fd()), "cmd", unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: name, Err: err}
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }()
	if err := checkOwner(file); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(file, commandMax+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > commandMax:
		return "", fmt.Errorf("%q: the command has more than %d MiB", name, commandMax>>20)
	}
	return string(text), nil
}

// keep writes an adopted command to the file that shells read. It creates a new file each time, because an earlier
// command may have the old one open.
func (s *Shell) keep(text string) error {
	if err := os.Remove(s.adopted()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(s.adopted(), []byte(text), 0o600)
}

// checkOwner refuses an open file that another user could have written.
func checkOwner(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("%q: not a regular file", f.Name())
	}
	return owners.CheckInfo(f.Name(), info)
}
