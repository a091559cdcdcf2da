//go:build amd64 || arm64

package try

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"buddy/tmux/pane/try/enter"
)

// stat is the state of a file. Only the exported fields are stored in a layer's state file.
type stat struct {
	Ino          uint64
	Mode         uint32 // with the type
	size         int64
	mtime, ctime int64 // in nanoseconds
	uid, gid     uint32
	links        uint64
	device       uint64 // that a device file stands for
}

// lstat returns the state of a path, nil if it does not exist.
func lstat(path string) (*stat, error) { return statAt(unix.AT_FDCWD, path) }

// statAt is lstat for a name in a folder.
func statAt(dir int, name string) (*stat, error) {
	var st unix.Stat_t
	switch err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return nil, nil //nolint:nilnil // absence is no error
	case err != nil:
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return &stat{
		Ino: st.Ino, Mode: st.Mode, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		uid: st.Uid, gid: st.Gid, links: uint64(st.Nlink), device: st.Rdev, //nolint:unconvert // another size on arm64
	}, nil
}

func (s *stat) is(format uint32) bool { return s != nil && s.Mode&unix.S_IFMT == format }
func (s *stat) dir() bool             { return s.is(unix.S_IFDIR) }

// whiteout reports whether a file of the layer stands for a deleted one.
func (s *stat) whiteout() bool { return s.is(unix.S_IFCHR) && s.device == 0 }

// fileMode returns the mode in Go's terms.
func (s *stat) fileMode() fs.FileMode {
	m := fs.FileMode(s.Mode & 0o777)
	for bit, also := range map[uint32]fs.FileMode{unix.S_ISUID: fs.ModeSetuid, unix.S_ISGID: fs.ModeSetgid, unix.S_ISVTX: fs.ModeSticky} {
		if s.Mode&bit != 0 {
			m |= also
		}
	}
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return m | fs.ModeDir
	case unix.S_IFLNK:
		return m | fs.ModeSymlink
	case unix.S_IFIFO:
		return m | fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return m | fs.ModeSocket
	case unix.S_IFCHR, unix.S_IFBLK:
		return m | fs.ModeDevice
	}
	return m
}

// lister compares the layer with the workspace.
type lister struct {
	upper, work, layer string
	r                  *Result
	one, two           [64 << 10]byte
}

// list fills in the changes of a result, and the moves by which Keep repeats them in the workspace.
func (t *trial) list(r *Result) error {
	l := &lister{upper: filepath.Join(part(t.layer, 0), enter.Upper), work: t.work, layer: t.layer, r: r}
	up, err := lstat(l.upper)
	if err != nil || up == nil {
		return fmt.Errorf("the layer %q can't be read: %w", l.upper, err)
	}
	low, err := lstat(l.work)
	if err != nil || low == nil {
		return fmt.Errorf("the workspace %q can't be read: %w", l.work, err)
	}
	if err := l.pair(".", up, low, false); err != nil {
		return fmt.Errorf("the changes can't be read: %w", err)
	}
	slices.SortFunc(r.Changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(r.Losses, func(a, b Loss) int { return cmp.Compare(a.Path, b.Path) })
	order := []deed{chmod, create, exchange, remove} // git's objects exist before branches name them
	slices.SortStableFunc(r.moves, func(a, b move) int { return cmp.Compare(slices.Index(order, a.Do), slices.Index(order, b.Do)) })
	return nil
}

// add records a change.
func (l *lister) add(kind Kind, rel string, up, low *stat) {
	c := Change{Path: rel, Kind: kind}
	if low != nil {
		c.Old, c.OldMode, c.OldSize = filepath.Join(l.work, rel), low.fileMode(), low.size
	}
	if up != nil {
		c.New, c.NewMode, c.NewSize = filepath.Join(l.upper, rel), up.fileMode(), up.size
	}
	l.r.Changes = append(l.r.Changes, c)
}

func (l *lister) lose(rel, format string, args ...any) {
	l.r.Losses = append(l.r.Losses, Loss{rel, fmt.Sprintf(format, args...)})
}

// move records what Keep must do to a path. If whole is set, it records nothing, because a folder above is moved as a
// whole.
func (l *lister) move(do deed, rel string, up, low *stat, whole bool) {
	if whole {
		return
	}
	m := move{Path: []byte(rel), Do: do}
	if up != nil {
		m.New = *up
	}
	if low != nil {
		m.Old = *low
	}
	l.r.moves = append(l.r.moves, m)
}

// pair compares a path of the layer with the same path of the workspace; nil means that it does not exist. whole means
// that a folder above is moved as a whole.
func (l *lister) pair(rel string, up, low *stat, whole bool) error {
	switch {
	case up.is(unix.S_IFSOCK):
		l.lose(rel, "a socket, which is not kept: its program has ended")
		return nil
	case up == nil && low == nil:
		return nil
	case up == nil:
		l.move(remove, rel, nil, low, whole)
		return l.tree(Deleted, rel, nil, low)
	case low == nil:
		l.move(create, rel, up, nil, whole)
		return l.tree(Created, rel, up, nil)
	case up.Mode&unix.S_IFMT != low.Mode&unix.S_IFMT:
		l.move(exchange, rel, up, low, whole)
		l.add(TypeChanged, rel, up, low)
		return errors.Join(l.below(Created, rel, up, nil), l.below(Deleted, rel, nil, low))
	case up.dir():
		return l.folders(rel, up, low, whole)
	}
	return l.files(rel, up, low, whole)
}

// files compares two files of the same type that are not folders.
func (l *lister) files(rel string, up, low *stat, whole bool) error {
	same, err := l.same(rel, up, low)
	if err != nil {
		return err
	}
	kind := Changed
	switch {
	case same && up.Mode == low.Mode && up.mtime == low.mtime, rel == gitIndex && sameIndex(filepath.Join(l.upper, rel), filepath.Join(l.work, rel)):
		return nil // it was only opened, or git read the times of files
	case same && up.Mode != low.Mode:
		kind = ModeChanged
	case same:
		kind = Touched
	}
	l.add(kind, rel, up, low)
	l.move(exchange, rel, up, low, whole)
	if low.links > 1 {
		l.lose(rel, "has %d other hard links, which keep the old content", low.links-1)
	}
	l.owner(rel, up, low)
	return nil
}

// owner records a changed owner.
func (l *lister) owner(rel string, up, low *stat) {
	if up.uid != low.uid || up.gid != low.gid {
		l.lose(rel, "its owner becomes %d:%d, from %d:%d", up.uid, up.gid, low.uid, low.gid)
	}
}

// folders compares two folders.
func (l *lister) folders(rel string, up, low *stat, whole bool) error {
	replaced := false
	if !whole {
		var value [1]byte
		n, err := unix.Lgetxattr(filepath.Join(l.upper, rel), xattrOpaque, value[:])
		replaced = err == nil && n == 1 && value[0] == 'y'
	}
	if up.Mode != low.Mode {
		l.add(ModeChanged, rel, up, low)
	}
	switch {
	case replaced:
		l.move(exchange, rel, up, low, false)
		l.owner(rel, up, low)
	case up.Mode != low.Mode:
		l.move(chmod, rel, up, low, whole)
	}
	return l.entries(rel, whole || replaced)
}

// entries compares the contents of two folders; whole means that the layer's folder replaces the workspace's folder.
func (l *lister) entries(rel string, whole bool) error {
	names, err := l.names(l.upper, rel)
	if err != nil {
		return err
	}
	if whole {
		below, err := l.names(l.work, rel)
		if err != nil {
			return err
		}
		names = append(names, below...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	for _, name := range names {
		path := filepath.Join(rel, name)
		up, err1 := lstat(filepath.Join(l.upper, path))
		low, err2 := lstat(filepath.Join(l.work, path))
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if up.whiteout() {
			up = nil
		}
		if err := l.pair(path, up, low, whole); err != nil {
			return err
		}
	}
	return nil
}

// tree records the same change for a path and everything below it. One of up and low is nil.
func (l *lister) tree(kind Kind, rel string, up, low *stat) error {
	l.add(kind, rel, up, low)
	return l.below(kind, rel, up, low)
}

// below is tree without the path itself.
func (l *lister) below(kind Kind, rel string, up, low *stat) error {
	side := l.upper
	if up == nil {
		side = l.work
	}
	if s := cmp.Or(up, low); !s.dir() {
		return nil
	}
	names, err := l.names(side, rel)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(rel, name)
		s, err := lstat(filepath.Join(side, path))
		switch {
		case err != nil:
			return err
		case s == nil || up != nil && s.whiteout():
			continue
		case up == nil:
			err = l.tree(kind, path, nil, s)
		case s.is(unix.S_IFSOCK):
			err = l.pair(path, s, nil, true)
		default:
			err = l.tree(kind, path, s, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// names returns the names in a folder of the layer or the workspace.
func (l *lister) names(side, rel string) ([]string, error) {
	f, err := os.Open(filepath.Join(side, rel))
	if errors.Is(err, fs.ErrPermission) {
		l.lose(rel, "can't be read, so changes in it are neither shown nor kept")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.Readdirnames(-1)
}

// same reports whether two files of the same type have the same content.
func (l *lister) same(rel string, up, low *stat) (bool, error) {
	a, b := filepath.Join(l.upper, rel), filepath.Join(l.work, rel)
	switch up.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		one, err1 := os.Readlink(a)
		two, err2 := os.Readlink(b)
		return one == two, errors.Join(err1, err2)
	case unix.S_IFREG:
	default:
		return true, nil
	}
	if up.size != low.size {
		return false, nil
	}
	f, err := openFile(a)
	if err != nil {
		return false, unreadable(err)
	}
	defer func() { _ = unix.Close(f) }()
	g, err := openFile(b)
	if err != nil {
		return false, unreadable(err)
	}
	defer func() { _ = unix.Close(g) }()
	for at := int64(0); at < up.size; {
		n, err1 := unix.Pread(f, l.one[:], at)
		m, err2 := unix.Pread(g, l.two[:], at)
		if err := errors.Join(err1, err2); err != nil {
			return false, err
		}
		if n = min(n, m); n == 0 || !bytes.Equal(l.one[:n], l.two[:n]) {
			return false, nil
		}
		at += int64(n)
	}
	return true, nil
}

// openFile opens a regular file for reading. If the file has meanwhile been replaced, openFile neither follows a link
// nor waits for a pipe.
func openFile(path string) (fd int, err error) {
	fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// unreadable drops the error of a file that its owner may not read, because such a file counts as changed.
func unreadable(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// newer returns the paths at and below a path of the workspace that changed since a mark.
func newer(work, rel string, mark int64) (paths []string) {
	_ = filepath.WalkDir(filepath.Join(work, rel), func(path string, _ fs.DirEntry, err error) error {
		s, statErr := lstat(path)
		if err != nil || statErr != nil || s == nil || s.ctime >= mark {
			if below, err := filepath.Rel(work, path); err == nil {
				paths = append(paths, below)
			}
		}
		return nil
	})
	return paths
}
