package fs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Rights set the permissions of a written file. In the zero value, a replaced file keeps its permissions, and a new one
// gets the usual ones.
type Rights struct {
	Perm       os.FileMode // exactly these, unless 0
	Executable bool        // a new file is executable
	Unsynced   bool        // the caller makes sure that the file reaches the disk, see [Sync]
}

// localStaged is new content of a file: in a temporary file in the file's folder or, if the file must be written in
// place, in memory.
type localStaged struct {
	dir        *os.File
	name, temp string // temp is "" for a file that is written in place
	data       []byte
	rights     Rights
	old        *unix.Stat_t // nil for a new file
	done       bool
}

// stage writes data to a temporary file in the folder of the planned path. Content for a file that a rename would strip
// of attributes stays in memory until Commit.
func stage(path string, data []byte, r Rights) (*localStaged, error) {
	dir, err := passDir(filepath.Dir(path), true)
	if err != nil {
		return nil, err
	}
	s := &localStaged{dir: dir, name: filepath.Base(path), data: data, rights: r}
	if err := s.prepare(); err != nil {
		Release(dir)
		return nil, fmt.Errorf("%q: %w", path, Cause(err))
	}
	return s, nil
}

func (s *localStaged) path() string { return filepath.Join(s.dir.Name(), s.name) }

// prepare creates the temporary file, or determines that the file must and can be written in place.
func (s *localStaged) prepare() error {
	var old unix.Stat_t
	err := unix.Fstatat(int(s.dir.Fd()), s.name, &old, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == nil && !modeOf(&old).IsRegular():
		return notRegular(s.path(), modeOf(&old))
	case err == nil:
		s.old = &old
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if s.keepsLinks() {
		return s.mayWrite()
	}
	temp := tempName()
	loses, err := s.writeTemp(temp)
	switch {
	case s.old != nil && !s.breaksLinks() && (loses || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EROFS)):
		return s.mayWrite()
	case err != nil:
		return err
	}
	s.temp = temp
	return nil
}

// keepsLinks reports whether the file's other hard links must get the new content; breaksLinks reports whether they
// must keep the old one.
func (s *localStaged) keepsLinks() bool  { return s.linked() && !BreaksLinks(s.path()) }
func (s *localStaged) breaksLinks() bool { return s.linked() && BreaksLinks(s.path()) }
func (s *localStaged) linked() bool      { return s.old != nil && s.old.Nlink > 1 }

func tempName() string { return ".buddy-" + rand.Text() + ".tmp" }

// Commit renames the temporary file to its final name. It writes the file in place if there is no temporary file or the
// rename is not possible.
func (s *localStaged) Commit(keep func() error) (dropped []string, err error) {
	if s.old != nil {
		dropped = droppedBits(modeOf(s.old))
		if hasCapabilities(s.path()) {
			dropped = append(dropped, "file capabilities")
		}
	}
	if s.temp != "" {
		err = unix.Renameat(int(s.dir.Fd()), s.temp, int(s.dir.Fd()), s.name)
		// The rename fails if the file is a mount point, which is busy. It also fails in a folder like /tmp, where we
		// may write to another user's file but not replace it.
		inPlace := errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)
		if s.done = err == nil; s.done {
			return dropped, nil
		}
		if s.old == nil || s.breaksLinks() || !inPlace || s.mayWrite() != nil {
			return nil, fmt.Errorf("%q: %w", s.path(), err)
		}
	}
	if err := keep(); err != nil {
		return nil, err
	}
	if err := s.writeInPlace(); err != nil {
		return nil, fmt.Errorf("%q: %w", s.path(), err)
	}
	return dropped, nil
}

// Close removes the temporary file unless it was committed.
func (s *localStaged) Close() error {
	if s.temp != "" && !s.done {
		_ = unix.Unlinkat(int(s.dir.Fd()), s.temp, 0)
	}
	return s.dir.Close()
}

// writeTemp creates the file temp with the new content and the rights of the replaced file. loses means that the new
// file would lack attributes of the old one. If it fails or loses is true, no temporary file remains.
func (s *localStaged) writeTemp(temp string) (loses bool, err error) {
	fd, err := unix.Openat(int(s.dir.Fd()), temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, s.rights.initial(s.old != nil))
	if err != nil {
		return false, err
	}
	f := os.NewFile(uintptr(fd), filepath.Join(s.dir.Name(), temp))
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		if err != nil || loses {
			_ = unix.Unlinkat(int(s.dir.Fd()), temp, 0)
		}
	}()
	if s.old != nil {
		if loses, err = s.giveRights(f); loses && !s.breaksLinks() || err != nil {
			return loses, err
		}
		loses = false
	}
	if _, err := f.Write(s.data); err != nil {
		return false, err
	}
	if s.rights.Perm != 0 {
		if err := f.Chmod(s.rights.Perm); err != nil {
			return false, err
		}
	}
	if s.rights.Unsynced {
		return false, nil
	}
	return false, f.Sync()
}

// initial returns the permissions for creating the file, before the umask.
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

// giveRights gives the empty file f the owner, group and permissions of the old file, and reports whether f then lacks
// attributes of the old file.
func (s *localStaged) giveRights(f *os.File) (loses bool, err error) {
	_ = f.Chown(int(s.old.Uid), -1) // a refusal is detected below
	_ = f.Chown(-1, int(s.old.Gid))
	var now unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &now); err != nil {
		return false, err
	}
	if err := f.Chmod(os.FileMode(s.old.Mode & 0o777)); err != nil {
		return false, err
	}
	return now.Uid != s.old.Uid || now.Gid != s.old.Gid || !sameAttributes(s.path(), f.Name()), nil
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

// renameFile renames the regular file at a planned path.
func renameFile(from, to string) error {
	dir, err := passDir(filepath.Dir(from), false)
	if err != nil {
		return err
	}
	defer Release(dir)
	if err := mustBeRegular(dir, filepath.Base(from)); err != nil {
		return err
	}
	there, err := passDir(filepath.Dir(to), true)
	if err != nil {
		return err
	}
	defer Release(there)
	if err := unix.Renameat(int(dir.Fd()), filepath.Base(from), int(there.Fd()), filepath.Base(to)); err != nil {
		return fmt.Errorf("%q could not be renamed to %q: %w", from, to, err)
	}
	return nil
}

// droppedBits names the bits of a mode that a write drops.
func droppedBits(mode os.FileMode) (all []string) {
	for _, one := range []struct {
		bit  os.FileMode
		name string
	}{{os.ModeSetuid, "setuid"}, {os.ModeSetgid, "setgid"}} {
		if mode&one.bit != 0 {
			all = append(all, one.name)
		}
	}
	return all
}
