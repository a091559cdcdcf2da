package executed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// stamp holds what the file system says of a file or folder without reading it. Two equal stamps mean that it has
// not changed: writing to a file, replacing it, or making, removing or renaming something in a folder changes
// the stamp. A program can set the time of the last writing back, but not that of the last change.
type stamp struct {
	device, inode uint64
	size          int64
	mode          uint32 // kind and permissions, as the kernel has them
	changed, mod  int64  // times of the last change and of the last writing, nanoseconds since 1970
}

func (s stamp) String() string {
	return fmt.Sprint(s.device, s.inode, s.size, s.mode, s.changed, s.mod)
}

// is reports whether the stamp is of a file of a kind, such as [unix.S_IFDIR].
func (s stamp) is(kind uint32) bool { return s.mode&unix.S_IFMT == kind }

// settled reports whether the stamp was old enough when the content was read, at the given time. Only then does
// an equal stamp mean that nothing has changed since.
func (s stamp) settled(at time.Time) bool {
	return at.UnixNano()-max(s.changed, s.mod) > int64(settles)
}

// stampOf returns the stamp of a name in an open folder, or of an absolute path. If its last element is a
// symbolic link, the stamp is of the link, or with follow of what it leads to.
func stampOf(dir int, name string, follow bool) (stamp, error) {
	flags := unix.AT_SYMLINK_NOFOLLOW
	if follow {
		flags = 0
	}
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, flags)
	for errors.Is(err, unix.EINTR) {
		err = unix.Fstatat(dir, name, &st, flags)
	}
	//nolint:unconvert // their types differ between systems
	return stamp{uint64(st.Dev), uint64(st.Ino), st.Size, uint32(st.Mode), st.Ctim.Nano(), st.Mtim.Nano()}, err
}

// digest returns what identifies the content of the file with this stamp; for a symbolic link this includes
// its target. For a large file, and for anything but a regular file, it is the stamp.
func digest(name string, s stamp) string {
	link := ""
	if s.is(unix.S_IFLNK) {
		link, _ = os.Readlink(name)
		followed, err := stampOf(unix.AT_FDCWD, name, true)
		if err != nil {
			return "link to " + link
		}
		s = followed
	}
	if !s.is(unix.S_IFREG) || s.size > maxDigest {
		return link + " " + s.String()
	}
	return fmt.Sprintf("%s %o %x", link, s.mode&0o111, sha256.Sum256(readMost(name)))
}

// readMost returns the beginning of a file, as far as digests go; nil if it can't be read.
func readMost(name string) []byte {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // a pipe would wait
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.LimitReader(f, maxDigest))
	return text
}

// lastElements are names and patterns of names.
type lastElements struct {
	names map[string]bool
	globs []string
}

// last holds the last elements of all patterns: a file whose name matches none of them is in no row.
var last = sync.OnceValue(func() (l lastElements) {
	l.names = make(map[string]bool)
	for _, p := range patterns() {
		if name := p.elements[len(p.elements)-1]; strings.Contains(name, "*") {
			l.globs = append(l.globs, name)
		} else {
			l.names[name] = true
		}
	}
	return l
})

// mayList reports whether a file of that name, in a folder that is not listed, can be a listed one.
func mayList(name string) bool {
	name = fold(name)
	if last().names[name] {
		return true
	}
	for _, glob := range last().globs {
		begin, rest, _ := strings.Cut(glob, "*")
		if !strings.HasPrefix(name, begin) || !strings.HasSuffix(name, rest[strings.LastIndexByte(rest, '*')+1:]) {
			continue
		}
		if ok, _ := path.Match(glob, name); ok {
			return true
		}
	}
	return false
}
