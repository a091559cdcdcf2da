// Package owners checks whether another user of the machine could change a file.
//
//	err := owners.Check("/srv/shop/.buddyx") // for example: group 27 may write to "/srv"
package owners

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// ErrOther means that another user could change the file or folder at a path.
var ErrOther = errors.New("another user of this machine could change it")

// Check returns an error that is [ErrOther] if a user other than this process's user and root could replace path, which
// is absolute. The path, its target if it is a link, and all folders above both must belong to one of the two. Folders
// must not be writable by others unless they are sticky, as /tmp is. Missing files are not checked.
func Check(path string) error { return checkBoth(path, CheckInfo) }

// CheckOwn is [Check] for a file that decides what may run; its error includes what to do. If root works on files of a
// user whom this machine does not know, as in a container, the files are accepted.
func CheckOwn(path string) error {
	err := checkBoth(path, func(at string, info fs.FileInfo) error {
		err := CheckInfo(at, info)
		if p, ok := errors.AsType[*problem](err); ok && p.foreign && unknownHere(p.uid) {
			return nil
		}
		return err
	})
	if p, ok := errors.AsType[*problem](err); ok {
		return fmt.Errorf("not loaded: %w; to use it: %s", err, p.step)
	}
	return err
}

// problem is an [ErrOther] that names who could change a file or folder.
type problem struct {
	text    string
	step    string // a command that solves the problem
	foreign bool   // the file belongs to uid
	uid     uint32
}

func (p *problem) Error() string { return ErrOther.Error() + ": " + p.text }
func (p *problem) Unwrap() error { return ErrOther }

// unknownHere reports whether this process is root and a user has no name on this machine.
func unknownHere(uid uint32) bool {
	_, err := user.LookupId(strconv.Itoa(int(uid)))
	return err != nil && os.Getuid() == 0
}

// checkBoth checks path, the file that its links lead to, and all folders above the two.
func checkBoth(path string, check func(string, fs.FileInfo) error) error {
	if err := checkWay(filepath.Clean(path), check); err != nil {
		return err
	}
	real, err := realPath(path)
	if err != nil || real == filepath.Clean(path) {
		return err
	}
	return checkWay(real, check)
}

// realPath resolves the links of the part of path that exists.
func realPath(path string) (string, error) {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		switch {
		case err == nil:
			return filepath.Join(real, rest), nil
		case !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at):
			return "", err
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// checkWay checks path and every folder above it.
func checkWay(path string, check func(string, fs.FileInfo) error) error {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err == nil {
			err = check(at, info)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// CheckInfo is [Check] for a single file, folder or link, without the folders above it.
func CheckInfo(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%w: the owner of %q is not known", ErrOther, path)
	}
	mode := info.Mode()
	sticky := mode.IsDir() && mode&fs.ModeSticky != 0
	closeIt := fmt.Sprintf("chmod go-w %q", path)
	switch {
	case int(st.Uid) != os.Getuid() && st.Uid != 0 && (st.Uid != overflow || !namespaced()):
		step := fmt.Sprintf("chown %s %q", userName(uint32(os.Getuid())), path) //nolint:gosec // numbers of users have 32 bits
		return &problem{text: fmt.Sprintf("%q belongs to %s", path, userName(st.Uid)), step: step, foreign: true, uid: st.Uid}
	case mode&fs.ModeSymlink != 0, sticky, mode.Perm()&0o022 != 0 && withoutRights(path):
		return nil
	case mode.Perm()&0o002 != 0:
		return &problem{text: fmt.Sprintf("everybody may write to %q", path), step: closeIt}
	case mode.Perm()&0o020 != 0 && !private(st):
		return &problem{text: fmt.Sprintf("group %s may write to %q", groupName(st.Gid), path), step: closeIt}
	}
	return nil
}

// overflow is the user id that a user namespace shows for files whose owner it does not know, such as the system's.
const overflow = 65534

// namespaced reports whether this process knows only some of the machine's users.
var namespaced = sync.OnceValue(func() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(text)), " ") != "0 0 4294967295"
})

// CheckText checks a file whose text is followed as an instruction: it must belong to this process's user or root, and
// must not be writable by everybody; a group may write to it. If root works on files of a user whom this machine does
// not know, as in a container, the files are accepted.
func CheckText(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return fmt.Errorf("%w: the owner of %q is not known", ErrOther, path)
	case info.Mode().Perm()&0o002 != 0 && !withoutRights(path):
		return fmt.Errorf("%w: everybody may write to it", ErrOther)
	case int(st.Uid) == os.Getuid() || st.Uid == 0:
		return nil
	}
	if unknownHere(st.Uid) {
		return nil
	}
	return fmt.Errorf("%w: it belongs to %s", ErrOther, userName(st.Uid))
}

// private reports whether the group of a file presumably has no members other than its owner and root. This is root's
// group, or the group with the owner's number or name: many systems give each user such a group.
func private(st *syscall.Stat_t) bool {
	if st.Gid == 0 || st.Gid == st.Uid {
		return true
	}
	return groupName(st.Gid) == userName(st.Uid)
}

func userName(uid uint32) string {
	id := strconv.Itoa(int(uid))
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}

func groupName(gid uint32) string {
	id := strconv.Itoa(int(gid))
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}
