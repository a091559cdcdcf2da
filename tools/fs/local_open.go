package fs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A plan names the real path of a file. Between the plan and the run, the user may think for minutes, and any program
// could put a symbolic link into that path. So a run opens the path one name at a time from /, each relative to the
// folder opened before, and never follows a link: it opens exactly the planned file or fails. Parent folders are opened
// with the search right only, so no more rights are needed than for the kernel's own path walk.

// readWait bounds reading from files that block although they look regular, such as
// /proc/kmsg.
const readWait = 5 * time.Second

// openat calls openat(2) and refuses links. The file is closed on exec.
func openat(dir *os.File, name string, flags int) (*os.File, error) {
	at, path := unix.AT_FDCWD, name
	if dir != nil {
		at, path = int(dir.Fd()), filepath.Join(dir.Name(), name)
	}
	for {
		fd, err := unix.Openat(at, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		default:
			return os.NewFile(uintptr(fd), path), nil
		}
	}
}

// Release closes a file that was only read, where an error does not matter.
func Release(f io.Closer) { _ = f.Close() }

// passDir opens the folder path without the right to list it. With create, it creates missing folders.
func passDir(path string, create bool) (*os.File, error) {
	dir, err := openat(nil, "/", passThrough|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		next, err := openat(dir, name, passThrough|unix.O_DIRECTORY)
		if create && errors.Is(err, os.ErrNotExist) {
			if err := unix.Mkdirat(int(dir.Fd()), name, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
				Release(dir)
				return nil, &os.PathError{Op: "make", Path: filepath.Join(dir.Name(), name), Err: err}
			}
			next, err = openat(dir, name, passThrough|unix.O_DIRECTORY)
		}
		Release(dir)
		if err != nil {
			return nil, swapped(err)
		}
		dir = next
	}
	return dir, nil
}

// swapped explains an error that occurred because a path has a link where the plan saw a folder.
func swapped(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok && (errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)) {
		return fmt.Errorf("%q is not a folder, or has become a symbolic link since the call was planned", p.Path)
	}
	return err
}

// openDir opens the folder at the planned path for listing.
func openDir(path string) (*os.File, error) {
	parent, err := passDir(filepath.Dir(path), false)
	if err != nil {
		return nil, err
	}
	defer Release(parent)
	dir, err := openat(parent, filepath.Base(path), unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, swapped(err)
	}
	return dir, nil
}

// openRegular opens the regular file name of dir for reading. It checks the type before opening the file, since opening
// a FIFO or a device may block or have an effect.
func openRegular(dir *os.File, name string) (*os.File, os.FileInfo, error) {
	if err := mustBeRegular(dir, name); err != nil {
		return nil, nil, err
	}
	// O_NONBLOCK keeps a FIFO that replaced the file after the check from blocking.
	f, err := openat(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(f.Name(), info.Mode())
	}
	if err != nil {
		Release(f)
		return nil, nil, err
	}
	_ = f.SetReadDeadline(time.Now().Add(readWait)) // not supported where reading never waits
	return f, info, nil
}

// mustBeRegular returns an error unless name in dir is a regular file.
func mustBeRegular(dir *os.File, name string) error {
	var st unix.Stat_t
	path := filepath.Join(dir.Name(), name)
	if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	if mode := modeOf(&st); !mode.IsRegular() {
		return notRegular(path, mode)
	}
	return nil
}

func infoOfStat(st *unix.Stat_t) Info {
	return Info{Size: st.Size, Mode: modeOf(st), Modified: time.Unix(0, unix.TimespecToNsec(st.Mtim)), Links: int(st.Nlink)}
}

func modeOf(st *unix.Stat_t) os.FileMode {
	mode := os.FileMode(st.Mode & 0o777)
	if st.Mode&unix.S_ISUID != 0 {
		mode |= os.ModeSetuid
	}
	if st.Mode&unix.S_ISGID != 0 {
		mode |= os.ModeSetgid
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= os.ModeDir
	case unix.S_IFLNK:
		mode |= os.ModeSymlink
	case unix.S_IFIFO:
		mode |= os.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= os.ModeSocket
	default:
		mode |= os.ModeDevice
	}
	return mode
}

// FileKind names the kind of file of a mode.
func FileKind(mode os.FileMode) string {
	switch {
	case mode.IsRegular():
		return "regular file"
	case mode.IsDir():
		return "folder"
	case mode&os.ModeSymlink != 0:
		return "symbolic link"
	case mode&os.ModeNamedPipe != 0:
		return "FIFO"
	case mode&os.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}

func notRegular(path string, mode os.FileMode) error {
	hint := ""
	if mode.IsDir() {
		hint = "; list_dir shows what is in it"
	}
	return fmt.Errorf("%q is a %s, not a regular file%s", path, FileKind(mode), hint)
}

// realPath resolves the symbolic links of an absolute, clean path. Trailing names that do not exist are kept.
func realPath(path string) (string, error) {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		resolved, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(resolved, rest), nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("%q: %w", path, Cause(err))
		}
		if info, err := os.Lstat(at); err == nil {
			if info.Mode()&os.ModeSymlink == 0 {
				return realPath(path) // it was made just now
			}
			return "", fmt.Errorf("%q: the symbolic link %q leads to nothing", path, at)
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%q: %w", path, os.ErrNotExist)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
