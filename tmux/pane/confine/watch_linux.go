//go:build linux && (amd64 || arm64)

package confine

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// watch reports which folders of a survey have changed, using inotify. A look takes microseconds for any number of
// folders, and sees each change immediately.
type watch struct {
	fd    int // -1: none
	dirs  map[int32]string
	short bool // a folder could not be added
}

// watched lists the events that change a folder for a survey: its entries, and the permissions of folders.
const watched = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ATTRIB | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// remote lists the file systems on which other machines change files without an event from this kernel.
var remote = []int64{unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC}

// newWatch returns a watch for folders below root; it is disabled if the kernel does not see all changes.
func newWatch(root string) *watch {
	w := &watch{fd: -1, dirs: make(map[int32]string)}
	var st unix.Statfs_t
	if unix.Statfs(root, &st) != nil || slices.Contains(remote, int64(st.Type)) { //nolint:unconvert // it is another type on other machines
		return w
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return w
	}
	w.fd = fd
	runtime.AddCleanup(w, func(fd int) { _ = unix.Close(fd) }, fd)
	return w
}

// complete reports whether all requested folders are watched.
func (w *watch) complete() bool { return w.fd >= 0 && !w.short }

// add watches a folder, and returns false if that is not possible.
func (w *watch) add(dir string) bool {
	if w == nil || w.fd < 0 {
		return false
	}
	wd, err := unix.InotifyAddWatch(w.fd, dir, watched)
	switch err {
	case nil:
		w.dirs[int32(wd)] = dir
		return true
	case unix.EACCES, unix.ENOENT, unix.ENOTDIR: // it can't be read either; when that changes, the parent reports it
		return true
	}
	w.short = true
	return false
}

// changes returns the changes since the last call.
func (w *watch) changes() changes {
	c := changes{entries: make(map[string]bool), replaced: make(map[string]bool)}
	if w.fd < 0 {
		c.all = true
		return c
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			c.all = c.all || err != nil && err != unix.EAGAIN
			return c
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			end := min(len(rest), unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(rest[12:])))
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:end], []byte{0})
			w.handle(&c, int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:]), string(name))
			rest = rest[end:]
		}
	}
}

// handle adds one event to the changes.
func (w *watch) handle(c *changes, wd int32, mask uint32, name string) {
	dir, known := w.dirs[wd]
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		c.all = true
	case mask&unix.IN_IGNORED != 0:
		delete(w.dirs, wd)
	case !known:
	case mask&unix.IN_ATTRIB != 0 && mask&unix.IN_ISDIR == 0: // a file's attributes
	default:
		c.entries[dir] = true
		if name != "" {
			c.replaced[filepath.Join(dir, name)] = true
		}
	}
}
