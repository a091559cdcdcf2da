//go:build amd64 || arm64

package try

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"buddy/tmux/pane/try/enter"
)

// deed names what keeping does to a path.
type deed string

const (
	create   deed = "create"   // the layer's file moves to the workspace
	exchange deed = "exchange" // the files of both change places
	remove   deed = "remove"   // the workspace's file moves to the layer
	chmod    deed = "chmod"    // a folder gets other permissions
)

// move is one step of keeping. The inode numbers of the files show whether the move was done, so that keeping can be
// repeated after a crash.
type move struct {
	Path     []byte // below the workspace
	Do       deed
	Old, New stat // zero if there is none
}

// xattrOpaque marks a folder of a layer that hides the workspace's folder at the same path.
const xattrOpaque = "user.overlay.opaque"

// xattrPrefix begins the names of the attributes of overlays.
const xattrPrefix = "user.overlay."

// state is the content of a layer's state file.
type state struct {
	Work  []byte
	Moves []move
}

// keeper moves files between a layer and the workspace.
type keeper struct {
	state
	layer, upper string
	lock         int    // the layer, locked
	work         int    // the workspace
	dir          int    // the folder of the last path, -1 for none
	of           string // its path below the workspace
}

// newKeeper returns a keeper of a layer, after any other process that keeps the layer has finished.
func newKeeper(layer string, s state) (*keeper, error) {
	lock, err := unix.Open(layer, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("the layer %q can't be opened: %w", layer, err)
	}
	if err := unix.Flock(lock, unix.LOCK_EX); err != nil {
		_ = unix.Close(lock)
		return nil, fmt.Errorf("the layer %q can't be locked: %w", layer, err)
	}
	work, err := unix.Open(string(s.Work), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(lock)
		return nil, fmt.Errorf("the workspace %q can't be opened: %w", s.Work, err)
	}
	return &keeper{state: s, layer: layer, upper: filepath.Join(part(layer, 0), enter.Upper), lock: lock, work: work, dir: -1}, nil
}

func (k *keeper) close() {
	for _, fd := range []int{k.lock, k.work, k.dir} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// at returns the open folder of a path in the workspace, valid until the next call, and the last name of the path. A
// symbolic link in the folder's path is an error.
func (k *keeper) at(path string) (dir int, name string, err error) {
	of := filepath.Dir(path)
	if k.dir >= 0 && k.of == of {
		return k.dir, filepath.Base(path), nil
	}
	fd, err := unix.Openat2(k.work, of, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1, "", &fs.PathError{Op: "open", Path: of, Err: err}
	}
	if k.dir >= 0 {
		_ = unix.Close(k.dir)
	}
	k.dir, k.of = fd, of
	return fd, filepath.Base(path), nil
}

// now returns the present state of a path of the workspace, nil if it does not exist.
func (k *keeper) now(path string) (*stat, error) {
	dir, name, err := k.at(path)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil //nolint:nilnil // absence is no error
	}
	if err != nil {
		return nil, err
	}
	return statAt(dir, name)
}

// conflicts returns the paths of a move that others changed since the mark.
func (k *keeper) conflicts(m move, mark int64) []string {
	path := string(m.Path)
	dir, name, err := k.at(path)
	if err != nil {
		return []string{path}
	}
	now, err := statAt(dir, name)
	same := err == nil && (now == nil) == (m.Do == create)
	switch {
	case !same || now == nil:
	case m.Do == chmod:
		same = now.Ino == m.Old.Ino && now.Mode == m.Old.Mode
	case path == gitIndex:
		same = now.ctime < mark || sameIndex(filepath.Join(string(k.Work), path), filepath.Join(k.layer, indexCopy))
	case now.Ino == m.Old.Ino && now.dir():
		return newer(string(k.Work), path, mark)
	default:
		same = now.Ino == m.Old.Ino && now.ctime < mark
	}
	if same {
		return nil
	}
	return []string{path}
}

// strip removes what must not get into the workspace from a path of the layer and everything below it: attributes of
// overlays, files that stand for deleted ones, and sockets.
func strip(path string) (err error) {
	s, err := lstat(path)
	switch {
	case err != nil:
		return err
	case s.whiteout() || s.is(unix.S_IFSOCK):
		return os.Remove(path)
	case !s.dir() && !s.is(unix.S_IFREG):
		return nil // it has no such attributes
	}
	own, err := ownAttributes(path)
	if err != nil || len(own) == 0 && !s.dir() {
		return err
	}
	if need := uint32(0o700); os.Getuid() != 0 && s.Mode&need != need { // its owner needs permissions for this
		if err := unix.Chmod(path, s.Mode&0o7777|need); err != nil {
			return &fs.PathError{Op: "chmod", Path: path, Err: err}
		}
		defer func() { err = errors.Join(err, unix.Chmod(path, s.Mode&0o7777)) }()
	}
	for _, name := range own {
		if err := unix.Lremovexattr(path, name); err != nil {
			return &fs.PathError{Op: "removexattr", Path: path, Err: err}
		}
	}
	if s.dir() {
		return stripBelow(path)
	}
	return nil
}

// stripBelow strips everything below a folder.
func stripBelow(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, strip(filepath.Join(dir, e.Name())))
	}
	return err
}

// ownAttributes returns the names of the attributes that an overlay gave to a path.
func ownAttributes(path string) (own []string, err error) {
	names := make([]byte, 64<<10) // the kernel's limit
	n, err := unix.Llistxattr(path, names)
	if err != nil {
		return nil, &fs.PathError{Op: "listxattr", Path: path, Err: err}
	}
	for name := range strings.SplitSeq(string(names[:n]), "\x00") {
		if strings.HasPrefix(name, xattrPrefix) {
			own = append(own, name)
		}
	}
	return own, nil
}

// errMoved means that a path no longer has the file that was checked.
var errMoved = errors.New("it changed meanwhile")

// done reports whether move n was done; now is the present state of the move's path.
func (k *keeper) done(n int, now *stat) (bool, error) {
	m := k.Moves[n]
	if m.Do == remove {
		gone, err := lstat(k.old(n))
		return gone != nil, err
	}
	return m.Do != chmod && now != nil && now.Ino == m.New.Ino, nil
}

// apply does move n, unless it was done.
func (k *keeper) apply(n int) error {
	m := k.Moves[n]
	path := string(m.Path)
	now, err := k.now(path)
	if err != nil {
		return err
	}
	if done, err := k.done(n, now); done || err != nil {
		return err
	}
	old := now != nil && (now.Ino == m.Old.Ino || path == gitIndex)
	switch {
	case old == (m.Do == create):
		return errMoved
	case m.Do == chmod:
		return k.chmod(path, m.New.Mode|0o700) // the other moves may need it
	}
	return k.rename(n, true)
}

// undo reverts move n, if it was done.
func (k *keeper) undo(n int) error {
	m := k.Moves[n]
	path := string(m.Path)
	now, err := k.now(path)
	if err != nil {
		return err
	}
	done, err := k.done(n, now)
	if err == nil && done {
		err = k.rename(n, false)
	}
	if err != nil {
		return err
	}
	if !m.Old.dir() {
		return nil
	}
	if now, err = k.now(path); err != nil || now == nil || now.Ino != m.Old.Ino || now.Mode == m.Old.Mode {
		return err
	}
	return k.chmod(path, m.Old.Mode)
}

// old returns the path of the file that move n removes.
func (k *keeper) old(n int) string { return filepath.Join(k.layer, oldDir, strconv.Itoa(n)) }

// rename does the renaming of move n, or reverts it if forth is false. It first makes folders writable for their owner,
// because a folder without write permission can't be moved into another folder.
func (k *keeper) rename(n int, forth bool) error {
	m := k.Moves[n]
	path := string(m.Path)
	other := filepath.Join(k.upper, path)
	if m.New.dir() && m.New.Mode&0o200 == 0 && forth {
		if err := unix.Chmod(other, m.New.Mode&0o7777|0o200); err != nil {
			return &fs.PathError{Op: "chmod", Path: other, Err: err}
		}
	}
	if m.Old.dir() && m.Old.Mode&0o200 == 0 && forth {
		if err := k.chmod(path, m.Old.Mode|0o200); err != nil {
			return err
		}
	}
	dir, name, err := k.at(path)
	if err != nil {
		return err
	}
	flags := uint(unix.RENAME_NOREPLACE)
	switch m.Do {
	case exchange:
		flags = unix.RENAME_EXCHANGE
	case remove:
		other = k.old(n)
	}
	if forth == (m.Do == remove) {
		err = unix.Renameat2(dir, name, unix.AT_FDCWD, other, flags)
	} else {
		err = unix.Renameat2(unix.AT_FDCWD, other, dir, name, flags)
	}
	if err != nil {
		return &fs.PathError{Op: "rename", Path: path, Err: err}
	}
	return nil
}

// chmod sets the permissions of a folder of the workspace.
func (k *keeper) chmod(path string, mode uint32) error {
	dir, name, err := k.at(path)
	if err != nil {
		return err
	}
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode&0o7777)
		_ = unix.Close(fd)
	}
	if err != nil {
		return &fs.PathError{Op: "chmod", Path: path, Err: err}
	}
	return nil
}

// finish does all moves, or none.
func (k *keeper) finish() error {
	for n := range k.Moves {
		err := k.apply(n)
		if err == nil {
			continue
		}
		if errors.Is(err, errMoved) {
			err = &ConflictError{[]string{string(k.Moves[n].Path)}}
		}
		for ; n >= 0; n-- {
			if back := k.undo(n); back != nil {
				return fmt.Errorf("%w: %w; going back: %w", ErrHalf, err, back)
			}
		}
		return errors.Join(err, os.Remove(filepath.Join(k.layer, stateFile)))
	}
	for _, m := range slices.Backward(k.Moves) { // the contents of a folder come before the folder
		if m.New.dir() && (m.Do == chmod || m.New.Mode&0o200 == 0) {
			if err := k.chmod(string(m.Path), m.New.Mode); err != nil {
				return fmt.Errorf("%w: %w", ErrHalf, err)
			}
		}
	}
	return os.Rename(filepath.Join(k.layer, stateFile), filepath.Join(k.layer, keptFile))
}

// save writes the state file to the disk, after everything else in the layer.
func (k *keeper) save() error {
	if err := unix.Syncfs(k.lock); err != nil { // the overlay wrote nothing to the disk
		return os.NewSyscallError("syncfs", err)
	}
	text, err := json.Marshal(k.state)
	if err != nil {
		return err
	}
	part := filepath.Join(k.layer, stateFile+".part")
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(os.Rename(part, filepath.Join(k.layer, stateFile)), unix.Fsync(k.lock))
}

// ErrHalf means that a result is kept only in part. [Resume] can keep the rest.
var ErrHalf = errors.New("the changes are kept only in part")

// Conflicts returns the paths that would make Keep fail with a [*ConflictError].
func (r *Result) Conflicts() ([]string, error) {
	k, err := newKeeper(r.Layer, state{Work: []byte(r.work), Moves: r.moves})
	if err != nil {
		return nil, err
	}
	defer k.close()
	return k.allConflicts(r.mark), nil
}

// allConflicts returns the conflicts of all moves.
func (k *keeper) allConflicts(mark int64) (paths []string) {
	for _, m := range k.Moves {
		paths = append(paths, k.conflicts(m, mark)...)
	}
	return paths
}

// Keep puts exactly the changes of the result into the workspace. The error is a [*ConflictError] if others changed the
// same paths since the command started. After an error nothing is kept, unless the error is [ErrHalf]. Afterwards the
// layer contains the old files of the workspace, so Discard must still be called.
func (r *Result) Keep() error {
	if r.Stopped != "" {
		return fmt.Errorf("the command did not end by itself (%s): its changes can't be kept", r.Stopped)
	}
	k, err := newKeeper(r.Layer, state{Work: []byte(r.work), Moves: r.moves})
	if err != nil {
		return err
	}
	defer k.close()
	if paths := k.allConflicts(r.mark); len(paths) > 0 {
		return &ConflictError{paths}
	}
	for _, m := range k.Moves {
		if m.Do == create || m.Do == exchange {
			if err := strip(filepath.Join(k.upper, string(m.Path))); err != nil {
				return fmt.Errorf("nothing was kept: %w", err)
			}
		}
	}
	if err := k.save(); err != nil {
		return fmt.Errorf("nothing was kept: %w", err)
	}
	return k.finish()
}

// Resume continues the [Result.Keep] of another process that was killed. kept reports whether the changes of the layer
// are now in the workspace. If kept is false, none of them is there, unless the error is [ErrHalf]. Resume waits while
// another process keeps the layer.
func Resume(layer string) (kept bool, err error) {
	text, err := os.ReadFile(filepath.Join(layer, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Lstat(filepath.Join(layer, keptFile))
		return err == nil, nil
	}
	if err != nil {
		return false, err
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return false, fmt.Errorf("%w: the state of %q can't be read: %w", ErrHalf, layer, err)
	}
	k, err := newKeeper(layer, s)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrHalf, err)
	}
	defer k.close()
	if _, err := os.Lstat(filepath.Join(layer, stateFile)); errors.Is(err, fs.ErrNotExist) {
		return Resume(layer) // the other process has ended it
	}
	err = k.finish()
	return err == nil, err
}
